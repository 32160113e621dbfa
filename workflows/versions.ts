/**
 * The ids of all `patched(…)` calls. A change that would alter the commands of a running workflow takes its new branch
 * only if `patched(PATCHES.<name>)` is true (docs/changing-a-workflow.md). Each id describes the change. Its comment
 * states why the branch exists, and the date from which `deprecatePatch` may replace it: no workflow that was started
 * before the release with the patch is open any more. Empty before the first release.
 */
export const PATCHES = {} as const satisfies Record<string, string>;
