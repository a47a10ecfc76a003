/*
 * A libFuzzer target for the decoders of frames; docs/native.md says how to run it. It is no part of the program. What is
 * decoded is read to its end, so that a string without an end or an index behind the last entry is found.
 */
#include "decode.c"

static struct policy_request policy;
static struct template_request template;
static struct run_request run;
static volatile unsigned long sum;

static void read_text(const char *text)
{
	while (*text != 0)
		sum += (u8)*text++;
}

static void read_mounts(const struct mount_request *mounts, u32 count)
{
	for (u32 index = 0; index < count; index++) {
		read_text(mounts[index].from);
		read_text(mounts[index].to);
	}
}

static void read_run(void)
{
	read_mounts(run.mounts, run.mount_count);
	for (u32 index = 0; index < run.group_count; index++)
		read_text(run.groups[index]);
	read_text(run.directory);
	read_text(run.proxy);
	for (const char **text = run.arguments; *text != NULL; text++)
		read_text(*text);
	for (const char **text = run.variables; *text != NULL; text++)
		read_text(*text);
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t length)
{
	struct frame frame;
	u32 number;
	if (find_frame(bytes, length, &frame) != DECODED)
		return 0;
	if (decode_policy(&frame, &policy) == DECODED)
		for (u32 index = 0; index < policy.rule_count; index++)
			read_text(policy.rules[index].path);
	if (decode_template(&frame, &template) == DECODED)
		read_mounts(template.mounts, template.mount_count);
	if (decode_run(&frame, &run) == DECODED)
		read_run();
	decode_number(&frame, &number);
	return 0;
}
