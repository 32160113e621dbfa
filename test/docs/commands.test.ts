import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program';
import { readSources, type SourceFile } from '../tidy/rules';

/** Every `lunas …` command line in the documents exists, with its options. */
let program: Command;
beforeAll(async () => {
  program = await createProgram({ stdout: process.stdout, stderr: process.stderr, environment: {} });
});

const pages = readSources().filter(({ file }) => /^(?:docs\/.*|README|SECURITY|CONTRIBUTING)\.?\w*\.md$/.test(file));

/** What follows `lunas`, and the page. */
type CommandLine = SourceFile;

/** In a code block, from `lunas` to a comment, a pipe or the end of the line; in prose, between backticks. */
const IN_BLOCK = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx )?lunas (.*?)(?:\s+#.*|\s+[|>&;].*)?$/;
const IN_PROSE = /`(?:[A-Z_]+=\S+ )*(?:npx )?lunas ([^`]+)`/g;

function commandLinesOf({ file, text }: SourceFile): CommandLine[] {
  let isInBlock = false;
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines.flatMap((content) => {
    if (/^\s*```/.test(content)) isInBlock = !isInBlock;
    const found = isInBlock ? [IN_BLOCK.exec(content.trim())] : [...content.matchAll(IN_PROSE)];
    return found.flatMap((match) => (match?.[1] === undefined ? [] : [{ file, text: match[1] }]));
  });
}

/** A text between quotes is no option. */
const wordsOf = (text: string) => text.replaceAll(/"[^"]*"|'[^']*'/g, 'TEXT').split(/\s+/);

/** The first word that the program does not know; undefined if it knows all. */
function unknownWord(text: string): string | undefined {
  let command: Command = program;
  let isValue = false;
  for (const word of wordsOf(text)) {
    const [name = ''] = word.replaceAll(/[[\](),.…]/g, '').split('=');
    const option = command.options.find(({ long }) => long === name);
    if (name.startsWith('--') && name !== '--help' && !option) return name;
    const isOfOption = isValue || name.startsWith('--');
    isValue = option?.required ?? false;
    if (isOfOption) continue;
    if (command.commands.length > 0) {
      const subcommand = command.commands.find((candidate) => candidate.name() === name);
      if (!subcommand) return name;
      command = subcommand;
    }
  }
  return undefined;
}

it('each `lunas` command in the documents exists, with its options', () => {
  const commandLines = pages.flatMap(commandLinesOf);
  expect(commandLines.filter(({ file }) => file.startsWith('docs/operations/')).length).toBeGreaterThan(20);
  const unknown = commandLines.flatMap(({ file, text }) => {
    const word = unknownWord(text);
    return word === undefined ? [] : [`${file}: lunas ${text}: ${word || 'nothing'}`];
  });
  expect(unknown).toEqual([]);
});

it('an unknown command or option is found', () => {
  expect(unknownWord('operators revok ID')).toBe('revok');
  expect(unknownWord('operators revoke ID --reason "stolen --note"')).toBe('--reason');
  expect(unknownWord('operators revoke ID --note "stolen"')).toBeUndefined();
});
