import type { Command } from 'commander';
import type { z } from 'zod';
import { UserError } from '../errors';
import { type CommandResult, formatJson } from './output';
import { CommandContext } from './command-context';
import type { Terminal } from './terminal';

const USAGE = 2;

/**
 * Defines what a command does. The schema checks its options and arguments, by their names in camel case: a violation
 * is one line that names the option and the rule. The result is printed as text, or with `--json` as one document.
 */
export function defineAction<Schema extends z.ZodObject>(
  command: Command,
  terminal: Terminal,
  schema: Schema,
  work: (input: z.output<Schema>, context: CommandContext) => Promise<CommandResult>,
): Command {
  return command.option('--json', 'print one JSON document').action(async () => {
    const result = await work(readInput(command, schema), new CommandContext(terminal.environment));
    const { json } = command.opts<{ json?: true }>();
    terminal.stdout.write(json ? formatJson(result.json) : `${result.text}\n`);
    if (result.failure !== undefined) throw new UserError(result.failure);
  });
}

/** Adds examples to a command's `--help`. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  $ ${line}`)].join('\n'));
}

/** Collects an option that can be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function readInput<Schema extends z.ZodObject>(command: Command, schema: Schema): z.output<Schema> {
  const positional = command.registeredArguments.map((argument, index): [string, unknown] => [
    camelCase(argument.name()),
    command.processedArgs[index],
  ]);
  const given = { ...command.opts<Record<string, unknown>>(), ...Object.fromEntries(positional) };
  const parsed = schema.safeParse(given, { reportInput: true });
  if (parsed.success) return parsed.data;
  const violations = parsed.error.issues.map((issue) => {
    const value = typeof issue.input === 'string' ? `, not '${issue.input}'` : '';
    return `${flagName(command, issue.path[0])} ${issue.message}${value}`;
  });
  return command.error(`error: ${violations.join('; ')}`, { exitCode: USAGE });
}

function flagName(command: Command, key: PropertyKey | undefined): string {
  const option = command.options.find((option) => option.attributeName() === key);
  const argument = command.registeredArguments.find((argument) => camelCase(argument.name()) === key);
  return option?.long ?? argument?.name() ?? command.name();
}

function camelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
