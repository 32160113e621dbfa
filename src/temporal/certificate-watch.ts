import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors';
import type { Logger } from '../observability/logger';
import type { TemporalTarget } from './connection';
import { connectionFailure } from './probe-connection';
import { isSameMaterial, type TlsFiles, type TlsMaterial } from './tls-files';

/** Files are compared by content: Kubernetes replaces a directory of them by a symbolic link, without an event. */
const INTERVAL_MS = 5_000;

/**
 * Uses replaced certificates without a restart. They are used once Temporal accepts them. Until then the old ones
 * stay, and the log has the reason.
 * @returns a function that ends the watch
 */
export function watchCertificates(
  { address, security: { tls } }: TemporalTarget,
  log: Logger,
  intervalMs = INTERVAL_MS,
): () => void {
  if (tls === undefined) return () => undefined;
  const stopping = new AbortController();
  void watch(tls);
  return () => stopping.abort();

  async function watch(files: TlsFiles): Promise<void> {
    let reported = '';
    for (;;) {
      await sleep(intervalMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const problem = await replaceIfChanged(files, address, log);
      if (problem !== '' && problem !== reported) {
        log.error({ reason: problem }, 'new Temporal certificates not used; the old ones stay in use');
      }
      reported = problem;
    }
  }
}

/** @returns why changed files are not used; empty if they did not change, or are used now */
async function replaceIfChanged(files: TlsFiles, address: string, log: Logger): Promise<string> {
  try {
    const material = await files.read();
    if (isSameMaterial(material, files.material)) return '';
    const failure = await connectionFailure({ address, tls: { serverName: files.serverName, material } });
    if (failure) return failure.message;
    files.replace(material);
    log.info(validityOf(material), 'Temporal certificates replaced');
    return '';
  } catch (error) {
    return messageOf(error);
  }
}

function validityOf({ certificate }: TlsMaterial): { readonly validTo?: string } {
  return certificate === undefined ? {} : { validTo: new X509Certificate(certificate).validTo };
}
