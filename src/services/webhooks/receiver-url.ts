import { z } from 'zod';
import type { Person } from '../../domain/actor';
import { resolverFor, type ResolveHost } from '../../webhooks/resolve-host';
import { receiverViolation, URL_RULES, type ReceiverRules, type UrlRule } from '../../webhooks/ssrf-guard';
import type { AuditDependencies } from '../audit/audit';

/** What an operation that takes the URL of a receiver needs. */
export interface UrlDependencies extends AuditDependencies {
  readonly receiverRules: ReceiverRules;
  /** Absent: that of the environment. */
  readonly resolveHost?: ResolveHost;
}

/** The URL violates a rule. */
export const urlReason = { url_not_allowed: { rule: z.enum(URL_RULES), sentence: z.string() } } as const;

/** The sentence of `urlReason` for operators. */
export const urlMessage = {
  url_not_allowed: ({ sentence }: { readonly sentence: string }) => sentence,
} as const;

interface UrlRejection {
  readonly reason: 'url_not_allowed';
  readonly rule: UrlRule;
  readonly sentence: string;
}

/**
 * The rule that the URL of a receiver violates, in production also by the network to which its host resolves; null: it
 * violates none.
 */
export async function brokenUrlRule(
  { receiverRules, resolveHost = resolverFor(receiverRules.environment) }: UrlDependencies,
  url: string,
): Promise<UrlRejection | null> {
  const violation = await receiverViolation(url, receiverRules, resolveHost);
  if (violation === null) return null;
  return { reason: 'url_not_allowed', rule: violation.rule, sentence: `The URL ${violation.text}: ${url}` };
}

/** The URL in the audit log. That of members has the origin alone: path and query may contain secrets. */
export function recordedUrl(by: Person, url: string): string | null {
  if (by.kind !== 'merchant_user') return url;
  if (!URL.canParse(url)) return null;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
