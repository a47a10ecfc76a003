/* Reads frames. Every read is checked against the end of the frame, and nothing may be left over behind the last one. */
#include "frames.h"

struct reader {
	const u8 *at, *end;
	int failed;
};

static size_t left(const struct reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

static u64 take(struct reader *reader, size_t bytes)
{
	u64 value = 0;
	if (left(reader) < bytes) {
		reader->failed = 1;
		reader->at = reader->end;
		return 0;
	}
	for (size_t index = 0; index < bytes; index++)
		value |= (u64)reader->at[index] << (8 * index);
	reader->at += bytes;
	return value;
}

static u32 take_u32(struct reader *reader)
{
	return (u32)take(reader, 4);
}

static const char *take_string(struct reader *reader)
{
	const char *text = (const char *)reader->at;
	for (const u8 *at = reader->at; at < reader->end; at++) {
		if (*at != 0)
			continue;
		reader->at = at + 1;
		return text;
	}
	reader->failed = 1;
	reader->at = reader->end;
	return "";
}

static struct reader read_from(const struct frame *frame)
{
	return (struct reader){ frame->payload, frame->payload + frame->length, 0 };
}

static enum decoded finish(const struct reader *reader)
{
	return reader->failed || left(reader) > 0 ? LIE : DECODED;
}

enum decoded find_frame(const u8 *bytes, size_t length, struct frame *frame)
{
	struct reader reader = { bytes, bytes + length, 0 };
	if (length < FRAME_HEAD)
		return INCOMPLETE;
	u32 rest = take_u32(&reader);
	if (rest < FRAME_HEAD - 4 || rest > MAX_FRAME)
		return LIE;
	frame->type = take_u32(&reader);
	frame->id = take_u32(&reader);
	if (frame->type < FRAME_POLICY || frame->type > FRAME_TEMPLATE)
		return LIE;
	if (length - 4 < rest)
		return INCOMPLETE;
	frame->payload = reader.at;
	frame->length = rest - (FRAME_HEAD - 4);
	return DECODED;
}

enum decoded decode_policy(const struct frame *frame, struct policy_request *policy)
{
	struct reader reader = read_from(frame);
	policy->file_rights = take(&reader, 8);
	policy->network_rights = take(&reader, 8);
	policy->scopes = take(&reader, 8);
	policy->vets = take_u32(&reader);
	policy->rule_count = take_u32(&reader);
	policy->port_count = take_u32(&reader);
	policy->instruction_count = take_u32(&reader);
	if (policy->rule_count > MAX_RULES || policy->port_count > MAX_PORTS ||
	    policy->instruction_count > MAX_INSTRUCTIONS)
		return TOO_MUCH;
	for (u32 index = 0; index < policy->rule_count && !reader.failed; index++) {
		struct policy_rule *rule = &policy->rules[index];
		rule->rights = take(&reader, 8);
		rule->is_root = take_u32(&reader);
		rule->path = take_string(&reader);
	}
	for (u32 index = 0; index < policy->port_count && !reader.failed; index++) {
		policy->ports[index].rights = take(&reader, 8);
		policy->ports[index].port = take(&reader, 8);
	}
	for (u32 index = 0; index < policy->instruction_count && !reader.failed; index++)
		policy->instructions[index] = take(&reader, 8);
	return finish(&reader);
}

static void take_mounts(struct reader *reader, struct mount_request *mounts, u32 count)
{
	for (u32 index = 0; index < count && !reader->failed; index++) {
		struct mount_request *mount = &mounts[index];
		mount->kind = take_u32(reader);
		mount->mode = take_u32(reader);
		mount->size = take(reader, 8);
		mount->identity.device = take(reader, 8);
		mount->identity.inode = take(reader, 8);
		mount->from = take_string(reader);
		mount->to = take_string(reader);
		/* Every name is one from the root of what the command sees. */
		if (mount->kind < MOUNT_DIRECTORY || mount->kind > MOUNT_SEAL || mount->to[0] != '/')
			reader->failed = 1;
	}
}

enum decoded decode_template(const struct frame *frame, struct template_request *template)
{
	struct reader reader = read_from(frame);
	template->shares_network = take_u32(&reader);
	template->mount_count = take_u32(&reader);
	template->instruction_count = take_u32(&reader);
	if (template->mount_count > MAX_MOUNTS || template->instruction_count > MAX_INSTRUCTIONS)
		return TOO_MUCH;
	take_mounts(&reader, template->mounts, template->mount_count);
	for (u32 index = 0; index < template->instruction_count && !reader.failed; index++)
		template->instructions[index] = take(&reader, 8);
	return finish(&reader);
}

enum decoded decode_run(const struct frame *frame, struct run_request *run)
{
	struct reader reader = read_from(frame);
	run->policy = take_u32(&reader);
	for (size_t index = 0; index < 3; index++)
		run->slots[index] = (i32)take_u32(&reader);
	run->limit_count = take_u32(&reader);
	run->group_count = take_u32(&reader);
	run->mount_count = take_u32(&reader);
	run->argument_count = take_u32(&reader);
	run->variable_count = take_u32(&reader);
	run->proxy_port = take_u32(&reader);
	if (run->limit_count > MAX_LIMITS || run->group_count > MAX_GROUPS || run->argument_count == 0 ||
	    run->proxy_port > 65535)
		return LIE;
	if (run->mount_count > MAX_MOUNTS || run->argument_count > MAX_STRINGS ||
	    run->variable_count > MAX_STRINGS - run->argument_count)
		return TOO_MUCH;
	for (u32 index = 0; index < run->limit_count; index++) {
		run->limits[index].resource = take_u32(&reader);
		run->limits[index].soft = take(&reader, 8);
		run->limits[index].hard = take(&reader, 8);
	}
	run->directory_identity.device = take(&reader, 8);
	run->directory_identity.inode = take(&reader, 8);
	take_mounts(&reader, run->mounts, run->mount_count);
	for (u32 index = 0; index < run->group_count; index++)
		run->groups[index] = take_string(&reader);
	run->directory = take_string(&reader);
	run->proxy = take_string(&reader);
	const char **next = run->arguments = run->strings;
	for (u32 index = 0; index < run->argument_count && !reader.failed; index++)
		*next++ = take_string(&reader);
	*next++ = NULL;
	run->variables = next;
	for (u32 index = 0; index < run->variable_count && !reader.failed; index++)
		*next++ = take_string(&reader);
	*next = NULL;
	return finish(&reader);
}

enum decoded decode_number(const struct frame *frame, u32 *number)
{
	struct reader reader = read_from(frame);
	*number = take_u32(&reader);
	return finish(&reader);
}
