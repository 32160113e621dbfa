import type { Queryable } from '../../db/connection/pool';
import { beginIfOnOtherTimeline, beginRecovery, readRecoveryMode } from '../../db/operations/recovery-mode';
import type { ActorText } from '../../domain/actor';
import type { Logger } from '../../observability/logger';

/** Every step that moves money asks, so a reading serves the steps of the next second. */
const FRESH_MS = 1_000;
/** Who begins the mode if no operator does. */
const BY_WORKER: ActorText = 'worker';

/** Knows whether Lunas is in recovery mode, and begins the mode if PostgreSQL is on another timeline than recorded. */
export class RecoveryWatch {
  #reading: { readonly sinceMs: number; readonly isOn: Promise<boolean> } | undefined;
  #wasOn = false;

  constructor(
    private readonly db: Queryable,
    private readonly log: Pick<Logger, 'error' | 'warn'>,
  ) {}

  /**
   * Whether PostgreSQL is in recovery mode, read less than 2 s ago.
   * @throws if PostgreSQL does not respond: then no money moves either
   */
  isRecovering(): Promise<boolean> {
    const nowMs = performance.now();
    if (this.#reading === undefined || nowMs - this.#reading.sinceMs >= FRESH_MS) {
      const reading = { sinceMs: nowMs, isOn: this.#read() };
      this.#reading = reading;
      reading.isOn.catch(() => {
        if (this.#reading === reading) this.#reading = undefined;
      });
    }
    return this.#reading.isOn;
  }

  /**
   * Begins the mode for a worker that was started with `LUNAS_RECOVERY_MODE`, or on another timeline. So a recovery
   * that an operator runs next counts.
   */
  async start(beginsRecovery = false): Promise<void> {
    if (beginsRecovery) await this.#begin();
    await this.isRecovering();
  }

  async #begin(): Promise<void> {
    const isFirst = await beginRecovery(this.db, { by: BY_WORKER, reason: 'LUNAS_RECOVERY_MODE is set' });
    if (isFirst) this.log.warn('recovery mode begun: LUNAS_RECOVERY_MODE is set');
  }

  async #read(): Promise<boolean> {
    const mode = await readRecoveryMode(this.db);
    const { isOn, timeline, recordedTimeline, reason } = mode;
    if (await beginIfOnOtherTimeline(this.db, mode, BY_WORKER)) {
      this.log.error({ timeline, recordedTimeline }, 'recovery mode begun: PostgreSQL was restored or failed over');
    }
    if (isOn && !this.#wasOn) this.log.warn({ reason }, 'recovery mode: nothing is settled or refunded');
    if (!isOn && this.#wasOn) this.log.warn('recovery mode has ended');
    this.#wasOn = isOn;
    return isOn;
  }
}
