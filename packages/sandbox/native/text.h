/* Text in buffers of a fixed size. What does not fit is an error, never a shorter text. */
#ifndef CONFINE_TEXT_H
#define CONFINE_TEXT_H

#include "sys.h"

/* As long as a path may be for the kernel, with its NUL. */
enum { PATH_SIZE = 4096 };

struct text {
	char bytes[PATH_SIZE];
	size_t length;
	int overflow;
};

static inline size_t length_of(const char *text)
{
	size_t length = 0;
	while (text[length] != 0)
		length++;
	return length;
}

static inline int starts_with(const char *text, const char *prefix)
{
	size_t length = length_of(prefix);
	for (size_t at = 0; at < length; at++)
		if (text[at] != prefix[at])
			return 0;
	return 1;
}

/* Up to 65535; 0 for what is not a number. */
static inline u32 number_in(const char *text)
{
	u32 number = 0;
	for (; *text >= '0' && *text <= '9' && number <= 65535; text++)
		number = number * 10 + (u32)(*text - '0');
	return *text == 0 && number <= 65535 ? number : 0;
}

static inline void text_clear(struct text *text)
{
	text->length = 0;
	text->overflow = 0;
	text->bytes[0] = 0;
}

static inline void text_add(struct text *text, const char *more)
{
	size_t length = length_of(more);
	if (length >= PATH_SIZE - text->length) {
		text->overflow = 1;
		return;
	}
	memcpy(text->bytes + text->length, more, length + 1);
	text->length += length;
}

static inline void text_add_number(struct text *text, u32 number)
{
	char digits[12];
	size_t at = sizeof(digits) - 1;
	digits[at] = 0;
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	text_add(text, digits + at);
}

/* "/proc/<process>/<what>", and a number at the end unless it is negative. */
static inline const char *proc_path(struct text *text, u32 process, const char *what, i32 number)
{
	text_clear(text);
	text_add(text, "/proc/");
	text_add_number(text, process);
	text_add(text, what);
	if (number >= 0)
		text_add_number(text, (u32)number);
	return text->bytes;
}

static inline const char *own_descriptor_path(struct text *text, int descriptor)
{
	text_clear(text);
	text_add(text, "/proc/self/fd/");
	text_add_number(text, (u32)descriptor);
	return text->bytes;
}

#endif
