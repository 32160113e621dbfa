import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../src/package-info';
import { FORBIDDEN_WORDS, QUOTATIONS } from './forbidden-words';

export interface SourceFile {
  /** Relative to the root of the repository, with slashes. */
  readonly file: string;
  readonly text: string;
}

export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly problem: string;
}

const MAX_COLUMNS = 120;

const DIRECTORIES = ['src', 'workflows', 'activities', 'test', 'bench', 'docs', 'scripts', 'examples', 'packages'];
const NOT_OURS = new Set(['node_modules', 'dist']);
const TEXT_FILE = /\.(?:[cm]?[jt]s|tsx|md|sql|sh|py|php|go|css)$/;

/** PostgreSQL and our generators write these lines. */
const GENERATED = [/^src\/db\/schema\.sql$/, /^src\/db\/transitions\/statements\.sql$/];
/** Migrations also contain the names before a rename. The others list the words and their replacements. */
const WITH_OTHER_WORDS = [/^src\/db\/migrations\//, /^test\/tidy\//, /^docs\/glossary\.md$/];

/** All text files of the directories above, and the Markdown files at the root. */
export function readSources(root = PACKAGE_ROOT): SourceFile[] {
  const topLevel = readdirSync(root).filter((name) => name.endsWith('.md'));
  const files = [...topLevel, ...DIRECTORIES.flatMap((directory) => listFiles(root, directory))];
  return files.map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));
}

function listFiles(root: string, directory: string): string[] {
  if (!existsSync(path.join(root, directory))) return [];
  return readdirSync(path.join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const file = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : listFiles(root, file);
    return TEXT_FILE.test(entry.name) ? [file] : [];
  });
}

function without(excluded: readonly RegExp[], sources: readonly SourceFile[]): readonly SourceFile[] {
  return sources.filter(({ file }) => !excluded.some((pattern) => pattern.test(file)));
}

/** Words and parts of names: `HTTPServer` has the parts `HTTP` and `Server`. */
const WORD = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu;
/** What separates the words of a phrase: nothing or `_` in a name, spaces or a line break in a comment. */
const PHRASE_GAP = /^[\s_*/#-]*$/;

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export function findForbiddenWords(sources: readonly SourceFile[]): Violation[] {
  return without([...GENERATED, ...WITH_OTHER_WORDS], sources).flatMap(({ file, text }) => {
    const ownText = QUOTATIONS.reduce((rest, quotation) => rest.replaceAll(quotation.text, blank), text);
    const inPath = phrasesIn(file).map(({ phrase }) => ({
      file,
      line: 0,
      problem: `${withReplacement(phrase)} (path)`,
    }));
    const inText = phrasesIn(ownText).map(({ phrase, start }) => ({
      file,
      line: lineAt(ownText, start),
      problem: withReplacement(phrase),
    }));
    return inPath.concat(inText);
  });
}

const withReplacement = (phrase: string) => `${phrase} → ${FORBIDDEN_WORDS.get(phrase) ?? ''}`;

const PHRASES = [...FORBIDDEN_WORDS.keys()].map((phrase) => phrase.split(' '));
const PHRASES_BY_FIRST_WORD = new Map(
  PHRASES.map(([first = '']) => [first, PHRASES.filter((phrase) => phrase[0] === first)]),
);

function phrasesIn(text: string): { phrase: string; start: number }[] {
  const words = wordsOf(text);
  return words.flatMap((word, index) =>
    (PHRASES_BY_FIRST_WORD.get(word.text) ?? [])
      .filter((phrase) => isPhraseAt(text, words, index, phrase))
      .map((phrase) => ({ phrase: phrase.join(' '), start: word.start })),
  );
}

function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)].map((match) => ({
    text: match[0].toLowerCase(),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function isPhraseAt(text: string, words: readonly Word[], index: number, phrase: readonly string[]): boolean {
  return phrase.every((part, offset) => {
    const word = words[index + offset];
    const previous = words[index + offset - 1];
    if (word?.text !== part) return false;
    return offset === 0 || previous === undefined || PHRASE_GAP.test(text.slice(previous.end, word.start));
  });
}

/** Spaces of the same length, so that offsets stay. */
function blank(text: string): string {
  return ' '.repeat(text.length);
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

const TYPESCRIPT = /\.tsx?$/;
const CODE = /^(?:src|workflows|activities)\/.*\.tsx?$/;
const COMMENT = /\/\*\*.*?\*\/|(?<=^|\s)\/\/[^\n]*/gms;

/** "As of" means "since", and a comment that begins with "Of" is no sentence. */
const FRAGMENTS = [
  { pattern: /(?:\/\*\*[\s*]+|\/\/ )(?<fragment>Of)\b/g, use: 'a sentence with a subject' },
  { pattern: /\b(?<fragment>as of) (?=an? |`)/gi, use: 'as for' },
];

export function findFragments(sources: readonly SourceFile[]): Violation[] {
  return without([...GENERATED, ...WITH_OTHER_WORDS], sources)
    .filter(({ file }) => TYPESCRIPT.test(file))
    .flatMap(({ file, text }) =>
      FRAGMENTS.flatMap(({ pattern, use }) =>
        [...text.matchAll(pattern)].map(({ groups, index }) => ({
          file,
          line: lineAt(text, index),
          problem: `${groups?.['fragment'] ?? ''} → ${use}`,
        })),
      ),
    );
}

const CONTRACT = 'docs/contract.md';
/** Papers that a reader of the repository does not have. */
const UNKNOWN_SOURCES = /interface-spec|\bdesign\.md\b|\bdesign §|\bthe design\b(?! of)/gi;

/** A comment cites documents that the repository has. One that cites the contract links to the page, or a section. */
export function findCitationProblems(sources: readonly SourceFile[]): Violation[] {
  const contract = sources.find(({ file }) => file === CONTRACT)?.text ?? '';
  const sections = new Set(headingsOf(contract));
  return without([...GENERATED, ...WITH_OTHER_WORDS], sources).flatMap(({ file, text }) => {
    const unknown = [...text.matchAll(UNKNOWN_SOURCES)].map(({ 0: source, index }) => ({
      index,
      problem: `${source} → ${CONTRACT}`,
    }));
    const comments = CODE.test(file) ? [...text.matchAll(COMMENT)] : [];
    const unlinked = comments
      .filter(({ 0: comment }) => /\bcontract\b/i.test(comment) && !comment.includes(CONTRACT))
      .map(({ index }) => ({ index, problem: `contract → a link to ${CONTRACT}` }));
    const broken = [...text.matchAll(/\bcontract\.md#([a-z-]+)/g)]
      .filter(({ 1: section = '' }) => !sections.has(section))
      .map(({ 0: link, index }) => ({ index, problem: `${link} is no section` }));
    return [...unknown, ...unlinked, ...broken].map(({ index, problem }) => ({
      file,
      line: lineAt(text, index),
      problem,
    }));
  });
}

/** The anchors of the headings of a page. */
function headingsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-'));
}

const ADAPTER = /^src\/(?:providers\/[^/]+|snap)\/.*\.ts$/;

/** The readers of src/lib/fields.ts serve each field of a kind: a pattern of its own accepts fewer forms. */
export function findOwnPatterns(sources: readonly SourceFile[]): Violation[] {
  return sources
    .filter(({ file }) => ADAPTER.test(file))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/\.regex\(/g)].map(({ index }) => ({
        file,
        line: lineAt(text, index),
        problem: 'a pattern → a reader of src/lib/fields.ts',
      })),
    );
}

const MAX_PAGE_LINES = 200;

/** A longer page has a component that can have a name and a file of its own. */
export function findLongPages(sources: readonly SourceFile[]): Violation[] {
  return sources
    .filter(({ file }) => /^src\/web\/.*\.tsx$/.test(file))
    .map(({ file, text }) => ({ file, line: 1, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MAX_PAGE_LINES)
    .map(({ file, line, lines }) => ({ file, line, problem: `${lines} lines → a component in a file of its own` }));
}

/** Jest runs the tests of files that end in `.test.ts`. */
export function findIgnoredTests(sources: readonly SourceFile[]): Violation[] {
  return sources
    .filter(({ file }) => /\.test\.(?!ts$)\w+$/.test(file))
    .map(({ file }) => ({ file, line: 1, problem: 'no project of Jest has it → .test.ts' }));
}

const ADDRESS = /https?:\/\/[^\s)>]+/g;

/** Tables and addresses cannot be wrapped. */
export function findLongLines(sources: readonly SourceFile[]): Violation[] {
  return without(GENERATED, sources).flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, index) => {
      const isTable = file.endsWith('.md') && line.trimStart().startsWith('|');
      const columns = line.replaceAll(ADDRESS, '').length;
      return isTable || columns <= MAX_COLUMNS ? [] : [{ file, line: index + 1, problem: `${columns} columns` }];
    }),
  );
}

const oxlintReport = z.object({
  diagnostics: z.array(
    z.object({
      filename: z.string(),
      message: z.string(),
      labels: z.tuple([z.object({ span: z.object({ line: z.number() }) })], z.unknown()),
    }),
  ),
});

/** A block that registers tests is a list of functions, not one function. */
const TEST_BLOCK = /\bdescribe(?:\.each|[A-Z]\w*)?\b/;

/** The limit is in oxlint.json. oxlint measures the functions, because TypeScript 7 has no parser for programs. */
export function findLongFunctions(sources: readonly SourceFile[], root = PACKAGE_ROOT): Violation[] {
  const linter = path.join(PACKAGE_ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const options = ['--config', path.join(__dirname, 'oxlint.json'), '--format', 'json'];
  // Its exit code is 1 if it finds something.
  const { stdout } = spawnSync(process.execPath, [linter, ...options], { cwd: root, encoding: 'utf8' });
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  return oxlintReport.parse(JSON.parse(stdout)).diagnostics.flatMap(({ filename, message, labels }) => {
    const { line } = labels[0].span;
    const text = texts.get(filename);
    if (text === undefined || TEST_BLOCK.test(startOfStatement(text.split('\n'), line - 1))) return [];
    return [{ file: filename, line, problem: message.replace(/ Maximum allowed.*/, '') }];
  });
}

/** The line itself, or the line that opened the table of `describe.each([…])(…)`, which has the same indentation. */
function startOfStatement(lines: readonly string[], index: number): string {
  const line = lines[index] ?? '';
  const [, indentation] = /^(\s*)\]\)\(/.exec(line) ?? [];
  if (indentation === undefined) return line;
  return lines.slice(0, index).findLast((above) => /^\s*/.exec(above)?.[0] === indentation && above !== '') ?? line;
}

const EXPORTED_NAME = /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum|const) (\w+)/gm;

/** Each package below `packages` is published and has names of its own. */
const packageOf = (file: string): string => /^packages\/[^/]+\//.exec(file)?.[0] ?? '';

/** Two functions may share a name: the same use case in two layers. A type and its value in one file may, too. */
export function findSharedNames(sources: readonly SourceFile[]): Violation[] {
  const exported = sources
    .filter(({ file }) => file.endsWith('.ts'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(EXPORTED_NAME)].map(({ 1: name = '', index }) => ({ file, line: lineAt(text, index), name })),
    );
  return exported.flatMap(({ file, line, name }) => {
    const others = exported
      .filter((other) => other.name === name && other.file !== file && packageOf(other.file) === packageOf(file))
      .map((other) => other.file);
    return others.length === 0 ? [] : [{ file, line, problem: `${name} is exported by ${others.join(', ')}, too` }];
  });
}

const DOCS_INDEX = 'docs/README.md';

/** A page is linked from docs/README.md, or from the README.md of its own directory. */
export function findUnlinkedPages(sources: readonly SourceFile[]): Violation[] {
  const pages = sources.filter(({ file }) => /^docs\/.*\.md$/.test(file));
  const linked = new Set(pages.filter(({ file }) => file.endsWith('/README.md')).flatMap(linksOf));
  return pages
    .filter(({ file }) => file !== DOCS_INDEX && !linked.has(file))
    .map(({ file }) => ({ file, line: 1, problem: `not linked from ${DOCS_INDEX} or the README.md beside it` }));
}

/** The targets of a page's links, relative to the root of the repository. */
function linksOf({ file, text }: SourceFile): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) =>
    path.posix.join(path.posix.dirname(file), target),
  );
}

const DECISION_RECORD = /^docs\/decisions\/(\d{4})-[a-z\d-]+\.md$/;
const TITLE = /^# (\d+)\. \S/;
const STATUS = /^Status: (?:proposed|accepted|superseded by \d{4}), \d{4}-\d{2}-\d{2}$/;

export function findDecisionRecordProblems(sources: readonly SourceFile[]): Violation[] {
  return sources.filter(({ file }) => file.startsWith('docs/decisions/')).flatMap(problemsOfDecisionRecord);
}

function problemsOfDecisionRecord({ file, text }: SourceFile): Violation[] {
  const number = Number(DECISION_RECORD.exec(file)?.[1]);
  const [title = '', , status = ''] = text.split('\n');
  const problems: Violation[] = [];
  if (Number(TITLE.exec(title)?.[1]) !== number)
    problems.push({ file, line: 1, problem: 'the first line is not `# <number of the file>. <title>`' });
  if (!STATUS.test(status))
    problems.push({ file, line: 3, problem: 'the third line is not `Status: accepted, <date>`' });
  return problems;
}

const BELOW_COMMAND_LINE = /^(?:src\/(?!cli\/)|workflows\/|activities\/).*\.ts$/;
const SERVICES = /^src\/services\//;
/**
 * They describe the variables and the metrics of the commands, and log for `lunas up`. The page of a used link names
 * the command for another.
 */
const DESCRIBES_COMMANDS = [
  /^src\/config\.ts$/,
  /^src\/observability\/definitions\.ts$/,
  /^src\/local-stack\//,
  /^src\/web\/dashboard\/texts\//,
];
/** Labels of derived keys, and the name of a connection in PostgreSQL. */
const NO_COMMANDS = [
  "'lunas qris links'",
  "'lunas request fingerprint'",
  "'lunas temporal payloads'",
  "'lunas sealed value hashes'",
  "'lunas stream cursors'",
  '`lunas demo key ',
  "application_name: 'lunas migrate'",
];
/** The second pattern is a comment to the end of its line; an address has no space before its slashes. */
const COMMENTS = [/\/\*.*?\*\//gs, /(?<=^|\s)\/\/.*$/gm];
const COMMAND = /\blunas [a-z][a-z-]*/g;
const OPTION = /(?<=\s)--[a-z][a-z-]*/g;
const UNTYPED_ERROR = /\bnew UserError\b/g;

/**
 * The command line adds its commands and options to the texts of the layers below it (`src/cli/error-hints.ts`).
 * Services throw errors with a type, which each door words itself.
 */
export function findCommandTexts(sources: readonly SourceFile[]): Violation[] {
  return without(DESCRIBES_COMMANDS, sources)
    .filter(({ file }) => BELOW_COMMAND_LINE.test(file))
    .flatMap(({ file, text }) => {
      const withoutNames = NO_COMMANDS.reduce((rest, name) => rest.replaceAll(name, blank), text);
      const code = withoutComments(withoutNames);
      const patterns = SERVICES.test(file) ? [COMMAND, OPTION, UNTYPED_ERROR] : [COMMAND];
      return patterns.flatMap((pattern) =>
        [...code.matchAll(pattern)].map(({ 0: problem, index }) => ({ file, line: lineAt(code, index), problem })),
      );
    });
}

/** Spaces in the positions of comments, so that offsets stay. */
export function withoutComments(text: string): string {
  return COMMENTS.reduce((rest, comment) => rest.replaceAll(comment, blankLine), text);
}

/** Line breaks stay too. */
function blankLine(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
