import { Command } from 'commander';
import { z } from 'zod';
import type { Environment } from '../config';
import { findEnvironment } from '../db/connection/environment';
import { createPool, type Pool } from '../db/connection/pool';
import { UserError } from '../errors';
import { createLogger, maskSecrets } from '../observability/logger';
import { CommandContext } from './command-context';
import { explainDatabaseError } from './database-error';
import { commandOperator, type CommandAudit, type KeyRule } from './operator-identity';
import { note } from './option-schemas';
import { formatJson, type CommandResult } from './output';
import { requireRules } from './rules/rule';
import { SETTINGS_RULES } from './rules/settings-rules';
import { explainTemporalError } from './temporal-error';
import type { Terminal } from './terminal';

const USAGE = 2;

const NOTE = z.object({ note: note.optional() });

/** A command of `lunas`. Its subcommands have the same terminal. */
export class LunasCommand extends Command {
  readonly terminal: Terminal;

  constructor(terminal: Terminal, name?: string) {
    super(name);
    this.terminal = terminal;
  }

  override createCommand(name?: string): LunasCommand {
    return new LunasCommand(this.terminal, name);
  }

  /** Adds examples to the command's `--help`. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  $ ${line}`)].join('\n'));
  }

  /**
   * Defines what the command does. The schema checks its options and arguments, by their names in camel case: a
   * violation is one line that names the option and the rule. The result is printed as text, or with `--json` as one
   * document. Work without a result has printed by itself.
   */
  checkedAction<Schema extends z.ZodObject>(
    schema: Schema,
    work: (input: z.output<Schema>, context: CommandContext) => Promise<CommandResult | undefined>,
  ): this {
    return this.option('--json', 'print one JSON document').action(async () => {
      const result = await work(readInput(this, schema), new CommandContext(this.terminal.environment));
      if (result === undefined) return;
      const { json } = this.opts<{ json?: true }>();
      this.terminal.stdout.write(json ? formatJson(result.json) : `${result.text}\n`);
      if (result.failure !== undefined) throw new UserError(result.failure);
    });
  }

  /** Declares a command that runs until it is stopped and prints by itself, with the checks of `checkedAction`. */
  runningAction<Schema extends z.ZodObject>(
    schema: Schema,
    work: (input: z.output<Schema>, context: CommandContext) => Promise<void>,
  ): this {
    return this.action(() => work(readInput(this, schema), new CommandContext(this.terminal.environment)));
  }

  /**
   * Declares a command with the checks of `checkedAction`, a connection pool that is closed after the work, also after
   * an error, and the environment that the database records. The work does not begin if a rule of the settings is
   * broken.
   */
  databaseAction<Schema extends z.ZodObject>(
    schema: Schema,
    work: (
      input: z.output<Schema>,
      db: Pool,
      context: CommandContext,
      environment: Environment,
    ) => Promise<CommandResult | undefined>,
    statementTimeoutMs?: number,
  ): this {
    return this.checkedAction(schema, (input, context) =>
      withDatabase(context, (db, environment) => work(input, db, context, environment), statementTimeoutMs),
    );
  }

  /**
   * Declares a `databaseAction` that writes or shows personal data: it has the option `--note`, and its work is an
   * operation (`runOperation`). If the database is that of production, it needs a note and an operator key.
   */
  writeAction<Schema extends z.ZodObject>(
    schema: Schema,
    work: (
      input: z.output<Schema>,
      audit: CommandAudit,
      context: CommandContext,
      environment: Environment,
    ) => Promise<CommandResult>,
    { statementTimeoutMs, keyRule = 'always' }: WriteOptions = {},
  ): this {
    if (!this.options.some(({ long }) => long === '--note')) this.option('--note <text>', 'why, for the audit log');
    return this.databaseAction(
      schema,
      async (input, db, context, environment) => {
        const { note } = readInput(this, NOTE);
        const audit = await this.auditOf(db, context, environment, { note, keyRule });
        try {
          return await work(input, audit, context, environment);
        } catch (error) {
          throw await explainTemporalError(error);
        }
      },
      statementTimeoutMs,
    );
  }

  /** The operator of a command that is recorded. A `writeAction` has it; another one may need it for some options. */
  async auditOf(
    db: Pool,
    context: CommandContext,
    environment: Environment,
    { note, keyRule = 'always' }: RecordedCommand,
  ): Promise<CommandAudit> {
    const log = createLogger('cli', context.config.LOG_LEVEL, this.terminal.stderr);
    const actor = await commandOperator(db, context.config, environment, { note, keyRule });
    return { db, log, actor, note };
  }
}

interface RecordedCommand {
  readonly note: string | undefined;
  readonly keyRule?: KeyRule;
}

interface WriteOptions {
  readonly statementTimeoutMs?: number;
  readonly keyRule?: KeyRule;
}

/**
 * Opens a connection pool for one command, and closes it after the work. The work does not begin if a rule of the
 * settings is broken.
 */
export async function withDatabase<Result>(
  context: CommandContext,
  work: (db: Pool, environment: Environment) => Promise<Result>,
  statementTimeoutMs?: number,
): Promise<Result> {
  const databaseUrl = await context.databaseUrl();
  await requireOwnSettings(context);
  const db = createPool(databaseUrl, { max: 4, ...(statementTimeoutMs !== undefined && { statementTimeoutMs }) });
  try {
    return await work(db, await requireSettings(context, db));
  } catch (error) {
    throw explainDatabaseError(error, databaseUrl);
  } finally {
    await db.end();
  }
}

/** Checks the settings before the first connection, which may have no TLS, if the environment is known by then. */
export async function requireOwnSettings(context: CommandContext): Promise<void> {
  const settings = await context.settings(undefined);
  if (settings.environment !== undefined) await requireRules(SETTINGS_RULES, settings);
}

/** Checks the settings with what the database records. @returns the environment of the database */
export async function requireSettings(context: CommandContext, db: Pool): Promise<Environment> {
  const recorded = await findEnvironment(db);
  await requireRules(SETTINGS_RULES, await context.settings(recorded));
  // The rule `environment` requires it.
  if (recorded === null) throw new Error('The database records no environment');
  return recorded;
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
  // A secret instead of an id must not get into the log of a build.
  return command.error(`error: ${maskSecrets(violations.join('; '))}`, { exitCode: USAGE });
}

function flagName(command: Command, key: PropertyKey | undefined): string {
  const option = command.options.find((option) => option.attributeName() === key);
  const argument = command.registeredArguments.find((argument) => camelCase(argument.name()) === key);
  return option?.long ?? argument?.name() ?? command.name();
}

function camelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
