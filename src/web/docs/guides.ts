import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../package-info';
import type { CodeLanguage } from './highlight';

export interface Guide {
  /** The last part of its address: the page; with `.md`, the text in Markdown. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
}

/** The pages of docs/ for merchants' developers, which this service serves below `/docs/`. */
export const GUIDES: readonly Guide[] = [
  {
    name: 'quick-start',
    title: 'Quick start',
    summary: 'a payment, a signed webhook in your own server, a refund and a payout, in a few minutes',
  },
  {
    name: 'integration',
    title: 'Take payments in your shop',
    summary: 'the path from the first request to real money: create, show, webhook, fulfil, refund, go live',
  },
  {
    name: 'checkout',
    title: 'The checkout page',
    summary: 'the page that shows the QR, the time left and the status, by redirect or in a frame',
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    summary: 'headers, signatures in four languages, retries, rules for receivers',
  },
  {
    name: 'sandbox',
    title: 'The sandbox',
    summary: 'an acquirer simulator: paying, magic amounts, injected faults',
  },
  {
    name: 'contract',
    title: 'The contract',
    summary: 'fields, codes, states and events on which you can rely',
  },
];

/** The guide of which a file name or an address is. */
export const findGuide = (name: string): Guide | undefined => GUIDES.find((guide) => guide.name === name);

const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;

/** The languages of examples, by the ending of a file. */
const EXAMPLE_LANGUAGES: Readonly<Record<string, CodeLanguage>> = { go: 'go', mjs: 'js', php: 'php', py: 'python' };

/** A guide in Markdown. A link to an example becomes its code; one to a page that is not served becomes its text. */
export async function readGuide({ name }: Guide): Promise<string> {
  const text = await readFile(path.join(PACKAGE_ROOT, 'docs', `${name}.md`), 'utf8');
  const targets = [...text.matchAll(LINK)].map(([, , target = '']) => target);
  const examples = new Map(
    await Promise.all(targets.map(async (target) => [target, await readExample(target)] as const)),
  );
  return text.replaceAll(
    LINK,
    (link, label: string, target: string) => examples.get(target) ?? (isServed(target) ? link : label),
  );
}

/** @returns the code block of the file to which a link leads; undefined if it is no example */
async function readExample(target: string): Promise<string | undefined> {
  const [, file = '', ending = ''] = /^\.\.\/(examples\/[\w/-]+\.(\w+))$/.exec(target) ?? [];
  const language = EXAMPLE_LANGUAGES[ending];
  if (language === undefined) return undefined;
  return `\`\`\`${language}\n${await readFile(path.join(PACKAGE_ROOT, file), 'utf8')}\`\`\``;
}

function isServed(target: string): boolean {
  return /^(?:https?:|#)/.test(target) || findGuide(guideNameIn(target)) !== undefined;
}

const guideNameIn = (target: string) => /^([\w-]+)\.md(?:#|$)/.exec(target)?.[1] ?? '';

/** The address of the page to which a link of a guide leads. */
export function pageAddress(target: string): string {
  return guideNameIn(target) === '' ? target : `/docs/${target.replace('.md', '')}`;
}

/** The index for language models and other tools (llmstxt.org): what this service is, and where its pages are. */
export function renderLlmsTxt(publicBaseUrl: string): string {
  const guides = GUIDES.map(({ name, title, summary }) => `- [${title}](${publicBaseUrl}/docs/${name}.md): ${summary}`);
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
- [API documentation](${publicBaseUrl}/docs): the same as pages for people
`;
}
