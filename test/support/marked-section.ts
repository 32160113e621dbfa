import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

/** A part of a Markdown page that a test compares: `<!-- kind: name -->`, the content, `<!-- /kind -->`. */
export interface MarkedSection {
  readonly page: string;
  readonly kind: string;
  readonly name: string;
}

/** The content between the markers, without the blank lines around it. */
export function readSection(section: MarkedSection): string {
  return split(section).content.trim();
}

export function writeSection(section: MarkedSection, content: string): void {
  const { before, after } = split(section);
  writeFileSync(path.join(PACKAGE_ROOT, section.page), `${before}\n\n${content}\n\n${after}`);
}

function split({ page, kind, name }: MarkedSection): { before: string; content: string; after: string } {
  const text = readFileSync(path.join(PACKAGE_ROOT, page), 'utf8');
  const start = `<!-- ${kind}: ${name} -->`;
  const end = `<!-- /${kind} -->`;
  const from = text.indexOf(start) + start.length;
  const to = text.indexOf(end, from);
  if (from < start.length || to < 0) throw new Error(`${page} has no section between ${start} and ${end}`);
  return { before: text.slice(0, from), content: text.slice(from, to), after: text.slice(to) };
}
