import { clearInterval, setInterval as every } from 'node:timers';

/** A step with a duration. Exactly one of `done` and `failed` ends it. */
export interface ProgressStep {
  /** The current activity, shown with the elapsed time. */
  detail(text: string): void;
  done(text?: string): void;
  failed(): void;
}

const TERMINAL_INTERVAL_MS = 250;
const LOG_INTERVAL_MS = 15_000;
const CLEAR_LINE = '\r\u001B[K';

/**
 * Shows the steps in progress, which may be concurrent. A terminal has one line, which is rewritten. A log has a line
 * at the start of a step, every 15 s and at its end.
 */
export class Progress {
  private readonly open = new Map<string, { startedAt: number; detail: string }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly output: Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'> = process.stderr) {}

  log(line: string): void {
    this.output.write(this.output.isTTY ? `${CLEAR_LINE}${line}\n` : `${line}\n`);
    if (this.output.isTTY) this.draw();
  }

  /** @param title what the step does, and its duration if it takes minutes */
  step(title: string): ProgressStep {
    const state = { startedAt: performance.now(), detail: '' };
    this.open.set(title, state);
    if (this.output.isTTY) this.draw();
    else this.output.write(`… ${title}\n`);
    this.timer ??= every(() => this.draw(), this.output.isTTY ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS).unref();
    return {
      detail: (text) => {
        state.detail = text;
      },
      done: (text = title) => this.close(title, `✓ ${text} (${elapsedSeconds(state.startedAt)} s)`),
      failed: () => this.close(title, `✗ ${title} (${elapsedSeconds(state.startedAt)} s)`),
    };
  }

  /** Runs a task as a step. */
  async track<T>(title: string, task: (step: ProgressStep) => Promise<T>): Promise<T> {
    const step = this.step(title);
    try {
      const result = await task(step);
      step.done();
      return result;
    } catch (error) {
      step.failed();
      throw error;
    }
  }

  private close(title: string, line: string): void {
    if (!this.open.delete(title)) return;
    if (this.open.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    this.log(line);
  }

  private draw(): void {
    const lines = [...this.open].map(
      ([title, { startedAt, detail }]) =>
        `… ${title} (${elapsedSeconds(startedAt)} s)${detail === '' ? '' : `: ${detail}`}`,
    );
    if (lines.length === 0) return;
    if (!this.output.isTTY) this.output.write(`${lines.join('\n')}\n`);
    else this.output.write(CLEAR_LINE + lines.join('  ').slice(0, (this.output.columns || 80) - 1));
  }
}

/** With one decimal below 10 s. */
function elapsedSeconds(startedAt: number): string {
  const seconds = (performance.now() - startedAt) / 1000;
  return seconds < 10 ? seconds.toFixed(1) : String(Math.round(seconds));
}
