/**
 * The ids of all `patched(…)` calls. A change that would alter the commands of a running workflow takes its new branch
 * only if `patched(PATCHES.<name>)` is true (docs/changing-a-workflow.md). Each id describes the change. Its comment
 * states why the branch exists, and the date from which `deprecatePatch` may replace it: no workflow that was started
 * before the release with the patch is open any more.
 */
export const PATCHES = {
  /**
   * A step that a request interrupts waits for its attempt. Before, it went on immediately. Deprecate when no workflow
   * of a payment or a payout is open that was started before the release with this patch.
   */
  interruptionWaitsForAttempt: 'an interrupted step waits for its attempt',
  /**
   * A request that waited for a step of its payout is rejected if the step has changed the payout. A request waits for
   * seconds: deprecate a day after the release with this patch.
   */
  queuedRequestComparesVersion: 'a queued request of a payout compares the version',
  /**
   * A signal makes a payout that waits for its approval compare itself with its row. Such a payout waits for 7 days:
   * deprecate a week after the release with this patch.
   */
  requestedPayoutCompares: 'a payout that waits for an approval compares itself with its row',
  /** Retention has a fifth kind of data and records its run. A run takes minutes: deprecate after the first release. */
  retentionRecordsItsRun: 'retention records its run',
  /** Retention has two more kinds of data. A run takes minutes: deprecate after the first release. */
  retentionDeletesSignIns: 'retention deletes sessions and sign-in links',
  /** A scheduled workflow records its run. A run takes hours at most: deprecate after the first release. */
  runsAreRecorded: 'scheduled workflows record their runs',
} as const satisfies Record<string, string>;
