/** The limits of one call to a provider or to a bank. The call ends at the one that comes first. */
export interface ProviderCall {
  readonly signal: AbortSignal;
  /** A timestamp, not a duration: a process that was suspended must not call after another has taken over. */
  readonly deadlineAtMs: number;
}

/** The request may or may not have been executed. */
export interface Indeterminate {
  readonly outcome: 'indeterminate';
  readonly reason: string;
  /** The call was not made: the account's own limit of calls is reached. */
  readonly isRateLimited?: true;
}

export function indeterminate(reason: string): Indeterminate {
  return { outcome: 'indeterminate', reason };
}
