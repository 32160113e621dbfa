import { findRepeatedTexts } from './tidy/page-texts';
import {
  findCitationProblems,
  findCommandTexts,
  findDecisionRecordProblems,
  findForbiddenWords,
  findFragments,
  findIgnoredTests,
  findLongFunctions,
  findLongLines,
  findLongPages,
  findOwnPatterns,
  findSharedNames,
  findUnlinkedPages,
  readSources,
  type SourceFile,
  type Violation,
} from './tidy/rules';
import { findDependentComments, findDependentTitles } from './tidy/sentences';

const RULES: Readonly<Record<string, (sources: readonly SourceFile[]) => Violation[]>> = {
  'no forbidden words': findForbiddenWords,
  'comments that are sentences': findFragments,
  'titles of tests that can be read alone': findDependentTitles,
  'doc comments that can be read alone': findDependentComments,
  'no text of the pages twice': findRepeatedTexts,
  'citations only of documents of the repository': findCitationProblems,
  'no line over 120 columns': findLongLines,
  'no function over 70 lines': findLongFunctions,
  'no page over 200 lines': findLongPages,
  'no test that Jest does not run': findIgnoredTests,
  'no pattern of its own in an adapter': findOwnPatterns,
  'no exported type or constant name twice': findSharedNames,
  'no command of the command line below it, and typed errors in services': findCommandTexts,
  'each page of the documents linked from docs/README.md or a README.md beside it': findUnlinkedPages,
  'each decision record with number, status and date': findDecisionRecordProblems,
};

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
  it.each(Object.entries(RULES))('%s', (_rule, find) => {
    expect(list(find(sources))).toBe('');
  });
});
