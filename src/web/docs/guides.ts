import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../package-info';

interface Guide {
  readonly title: string;
  readonly summary: string;
}

/** The pages of docs/ for merchants' developers, which this service serves as they are, below `/docs/`. */
const GUIDES: Readonly<Record<string, Guide>> = {
  'quick-start.md': {
    title: 'Quick start',
    summary: 'a signed webhook in your own server, in a few minutes',
  },
  'integration.md': {
    title: 'Take payments in your shop',
    summary: 'the path from the first request to real money: create, show, webhook, fulfil, refund, go live',
  },
  'checkout.md': {
    title: 'The checkout page',
    summary: 'the page that shows the QR, the time left and the status, by redirect or in a frame',
  },
  'webhooks.md': {
    title: 'Webhooks',
    summary: 'headers, signatures in four languages, retries, rules for receivers',
  },
  'sandbox.md': { title: 'The sandbox', summary: 'an acquirer simulator: paying, magic amounts, injected faults' },
};

export const GUIDE_FILES = Object.keys(GUIDES);

/**
 * A guide in Markdown. A link to a page that is not served becomes its text.
 * @param file one of `GUIDE_FILES`
 */
export async function readGuide(file: string): Promise<string> {
  const text = await readFile(path.join(PACKAGE_ROOT, 'docs', file), 'utf8');
  return text.replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, label: string, target: string) =>
    isServed(target) ? link : label,
  );
}

function isServed(target: string): boolean {
  return /^(?:https?:|#)/.test(target) || GUIDE_FILES.includes(target.split('#')[0] ?? '');
}

/** The index for language models and other tools (llmstxt.org): what this service is, and where its pages are. */
export function renderLlmsTxt(publicBaseUrl: string): string {
  const guides = Object.entries(GUIDES).map(
    ([file, { title, summary }]) => `- [${title}](${publicBaseUrl}/docs/${file}): ${summary}`,
  );
  return `# Lunas

> Lunas takes QRIS payments for merchants in Indonesia: create a payment, show its QR, receive signed webhooks, refund.

Amounts are whole rupiah. Secret keys stay on servers. Send an \`Idempotency-Key\` with each create, one for each
attempt of a customer to pay, such as \`ORDER-1042-1\`. Repeat a request that had no response or a 500 under the
same key. If \`X-Payment-Status\` of the repeat is \`expired\`, \`cancelled\` or \`failed\`, the next attempt needs
a new key. Fulfil once for each payment \`id\`, when it is \`paid\` or \`settled\`. A refund is always for the whole
amount: send no body.

## Guides

${guides.join('\n')}

## API

- [OpenAPI document](${publicBaseUrl}/openapi.json): every endpoint, field, error code, webhook and example
- [API documentation](${publicBaseUrl}/docs): the same as a page for people
`;
}
