/* What is made once for each policy: rulesets of Landlock, which its commands apply. template.c makes the other kind. */
#include "confine.h"
#include "status.h"
#include "text.h"

enum { LANDLOCK_VERSION = 1, RULE_PATH_BENEATH = 1, RULE_NET_PORT = 2 };

struct ruleset_attributes {
	u64 file_rights, network_rights, scopes;
};

struct path_rule {
	u64 rights;
	i32 parent;
} __attribute__((packed));

struct port_rule {
	u64 rights, port;
};

/* What a rule about a file, not a directory, may grant: execute, write, read, truncate, requests to a device. */
static const u64 rights_of_files = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;

static struct policy policies[MAX_POLICIES];

struct policy *unused_policy(void)
{
	for (size_t index = 0; index < MAX_POLICIES; index++)
		if (!policies[index].used)
			return &policies[index];
	return NULL;
}

i32 landlock_version(void)
{
	long version = CALL(landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
	return version < 0 ? 0 : (i32)version;
}

static size_t attributes_size(void)
{
	i32 version = landlock_version();
	return version < 4 ? 8 : version < 6 ? 16 : 24;
}

/*
 * The names that come here are resolved: a link in one of them was put there since. Only what lies in /proc is a link of
 * the kernel's own, to a descriptor that Node holds.
 */
static int open_place(const struct policy_rule *rule)
{
	enum { RESOLVE_NO_SYMLINKS = 4 };
	struct {
		u64 flags, mode, resolve;
	} how = { O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS };
	if (starts_with(rule->path, "/proc/"))
		return (int)CALL(openat, AT_FDCWD, rule->path, O_PATH | O_CLOEXEC, 0);
	long opened = CALL(openat2, AT_FDCWD, rule->path, &how, sizeof(how));
	/* A container's filter may not know the call. */
	if (opened == -ENOSYS || opened == -EPERM)
		opened = CALL(openat, AT_FDCWD, rule->path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	return (int)opened;
}

static long add_rules(struct policy *policy, const struct policy_request *request, u32 *skipped)
{
	for (u32 index = 0; index < request->rule_count; index++) {
		const struct policy_rule *wanted = &request->rules[index];
		int place = open_place(wanted);
		if (place < 0 && wanted->is_root)
			return place;
		if (place < 0) {
			++*skipped;
			continue;
		}
		struct path_rule rule = { wanted->rights & request->file_rights, place };
		if (!is_directory(place))
			rule.rights &= rights_of_files;
		long result = rule.rights == 0 ? 0 :
			CALL(landlock_add_rule, policy->ruleset, RULE_PATH_BENEATH, &rule, 0);
		if (result == 0 && wanted->is_root && policy->root_count == MAX_ROOTS)
			result = -E2BIG;
		if (result == 0 && wanted->is_root)
			policy->roots[policy->root_count++] = place;
		else
			CALL(close, place);
		if (result < 0)
			return result;
	}
	for (u32 index = 0; index < request->port_count; index++) {
		struct port_rule rule = { request->ports[index].rights, request->ports[index].port };
		long result = CALL(landlock_add_rule, policy->ruleset, RULE_NET_PORT, &rule, 0);
		if (result < 0)
			return result;
	}
	return 0;
}

static void release(struct policy *policy)
{
	if (policy->ruleset >= 0)
		CALL(close, policy->ruleset);
	for (size_t index = 0; policy->is_template && index < NAMESPACES; index++)
		CALL(close, policy->namespaces[index]);
	for (u32 index = 0; index < policy->root_count; index++)
		CALL(close, policy->roots[index]);
	policy->used = 0;
}

long make_policy(u32 id, const struct policy_request *request, u32 *skipped)
{
	*skipped = 0;
	forget_policy(id);
	struct policy *policy = unused_policy();
	if (policy == NULL)
		return -EAGAIN;
	struct ruleset_attributes attributes = { request->file_rights, request->network_rights, request->scopes };
	long ruleset = CALL(landlock_create_ruleset, &attributes, attributes_size(), 0);
	if (ruleset < 0)
		return ruleset;
	policy->used = 1;
	policy->id = id;
	policy->ruleset = (int)ruleset;
	policy->vets = request->vets;
	policy->is_template = 0;
	policy->root_count = 0;
	policy->instruction_count = request->instruction_count;
	memcpy(policy->instructions, request->instructions, request->instruction_count * sizeof(u64));
	long result = add_rules(policy, request, skipped);
	if (result < 0)
		release(policy);
	return result;
}

const struct policy *find_policy(u32 id)
{
	for (size_t index = 0; index < MAX_POLICIES; index++)
		if (policies[index].used && policies[index].id == id)
			return &policies[index];
	return NULL;
}

void forget_policy(u32 id)
{
	for (size_t index = 0; index < MAX_POLICIES; index++)
		if (policies[index].used && policies[index].id == id)
			release(&policies[index]);
}
