import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import {
  findDecisionRecordProblems,
  findForbiddenWords,
  findLongFunctions,
  findLongLines,
  findSharedNames,
  findUnlinkedPages,
  readSources,
  type SourceFile,
  type Violation,
} from './tidy/rules';

const RULES: Readonly<Record<string, (sources: readonly SourceFile[]) => Violation[]>> = {
  'no forbidden words': findForbiddenWords,
  'no line over 120 columns': findLongLines,
  'no function over 70 lines': findLongFunctions,
  'no exported type or constant name twice': findSharedNames,
  'each page of the documents linked from docs/README.md': findUnlinkedPages,
  'each decision record with number, status and date': findDecisionRecordProblems,
};

/** How many violations each rule still has. A number may not grow; `UPDATE_TIDY=1` writes the present numbers. */
const BUDGET_FILE = path.join(__dirname, 'tidy', 'budget.json');
const budget = z.record(z.string(), z.number()).parse(JSON.parse(readFileSync(BUDGET_FILE, 'utf8')));
const sources = readSources();

/** One line for each file, the worst first. */
function list(violations: readonly Violation[]): string {
  const byFile = new Map<string, string[]>();
  for (const { file, line, problem } of violations) {
    byFile.set(file, [...(byFile.get(file) ?? []), `${line}: ${problem}`]);
  }
  return [...byFile]
    .toSorted(([, some], [, others]) => others.length - some.length)
    .map(([file, found]) => `  ${file} (${found.length})  ${[...new Set(found)].join('; ')}\n`)
    .join('');
}

describe('the sources have', () => {
  const counts = { ...budget };

  it.each(Object.entries(RULES))('%s', (rule, find) => {
    const violations = find(sources);
    const allowed = budget[rule] ?? 0;
    counts[rule] = violations.length;
    if (violations.length > 0) process.stdout.write(`${rule}: ${violations.length} of ${allowed}\n${list(violations)}`);
    expect(violations.length).toBeLessThanOrEqual(allowed);
  });

  afterAll(() => {
    if (process.env.UPDATE_TIDY === '1') writeFileSync(BUDGET_FILE, `${JSON.stringify(counts, null, 2)}\n`);
  });
});
