/** What a verification of the ledger or of the audit log found. */
export interface VerificationResult {
  /** Payments, or entries of the audit log. */
  readonly verified: number;
  readonly breakCount: number;
}

export interface VerificationScope {
  /** Everything, and not only what was written since the last verification without breaks. */
  readonly isFull: boolean;
}

/** Each verifies and records the result. */
export interface Verifications {
  readonly ledger: (scope: VerificationScope) => Promise<VerificationResult>;
  readonly audit: (scope: VerificationScope) => Promise<VerificationResult>;
}
