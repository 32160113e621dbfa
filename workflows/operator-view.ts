import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from './messages';

/** What operators see of a workflow: search attributes in lists, current details on its page of the Web UI. */
export class OperatorView {
  /** Why the last request was rejected. */
  lastRejection: string | null = null;
  readonly #headline: () => string;
  #attentionReason: string | null;

  /** @param headline the first paragraph of the details, Markdown */
  constructor(headline: () => string, attentionReason: string | null = null) {
    this.#headline = headline;
    this.#attentionReason = attentionReason;
  }

  /** Null if the workflow needs no attention. */
  get attentionReason(): string | null {
    return this.#attentionReason;
  }

  /** @param changes of the other search attributes, for the same command */
  setAttention(reason: string | null, changes: readonly SearchAttributeUpdatePair[] = []): void {
    const attention = { key: SEARCH_ATTRIBUTES.needsAttention, value: reason !== null };
    const hasChanged = attention.value !== (this.#attentionReason !== null);
    const upserts = hasChanged ? [...changes, attention] : [...changes];
    this.#attentionReason = reason;
    if (upserts.length > 0) upsertSearchAttributes(upserts);
    this.updateDetails();
  }

  updateDetails(): void {
    const attention = this.#attentionReason === null ? '' : `\n\n**Needs attention:** ${this.#attentionReason}`;
    const rejection = this.lastRejection === null ? '' : `\n\nLast request rejected: ${this.lastRejection}`;
    setCurrentDetails(`${this.#headline()}${attention}${rejection}`);
  }
}
