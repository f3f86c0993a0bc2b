import type { Problem, SchemaResult } from '../schema/schema-result.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { CallRun } from './call-run.ts';
import { type ReadArguments, readArguments } from './read-arguments.ts';
import { errorOutcome, type Stage } from './refusal.ts';
import { sameJson } from './same-json.ts';

/** Arguments that fit, with the schema's defaults and transforms, and as they were before: read as JSON, perhaps repaired. */
export interface ParsedInput {
  readonly input: unknown;
  readonly args: unknown;
}

/** The arguments as the tool gets them. */
export function parseInput(
  run: CallRun,
  tool: ResolvedTool,
  written: unknown,
  read: ReadArguments = readArguments(written),
): Stage<ParsedInput> | Promise<Stage<ParsedInput>> {
  const result = check(tool, read);
  if (!(result instanceof Promise) && result.ok) return { go: toParsed(read, result.value) };
  return repairOnce(run, tool, written, { read, checked: result });
}

/** Whether the schema takes its own output, as it is stored, and leaves it as it is: most only check and fill in defaults. */
export async function isStable(tool: ResolvedTool, input: unknown): Promise<boolean> {
  try {
    const again = await tool.input.validate(JSON.parse(JSON.stringify(input)));
    return again.ok && sameJson(again.value, input);
  } catch {
    return false;
  }
}

function toParsed(read: ReadArguments, input: unknown): ParsedInput {
  return { input, args: 'value' in read ? read.value : undefined };
}

async function repairOnce(
  run: CallRun,
  tool: ResolvedTool,
  written: unknown,
  { read, checked }: { readonly read: ReadArguments; readonly checked: SchemaResult | Promise<SchemaResult> },
): Promise<Stage<ParsedInput>> {
  const result = await checked;
  if (result.ok) return { go: toParsed(read, result.value) };
  const repaired = await askRepair(run, tool, written, result.problems);
  if (repaired === undefined) return { end: invalidInput(run.toolName, result.problems) };
  const readAgain = readArguments(repaired);
  const again = await check(tool, readAgain);
  return again.ok ? { go: toParsed(readAgain, again.value) } : { end: invalidInput(run.toolName, again.problems) };
}

async function askRepair(
  run: CallRun,
  tool: ResolvedTool,
  input: unknown,
  problems: readonly Problem[],
): Promise<unknown> {
  const middleware = [...run.middleware, ...tool.middleware].find((one) => one.repair !== undefined);
  // Arguments that were cut off could look complete after a repair: `{"amount":12` may have been going to be 1200.
  if (middleware?.repair === undefined || run.isCutOff === true) return undefined;
  try {
    const jsonSchema = await tool.input.jsonSchema();
    return await middleware.repair({ callId: run.callId, toolName: run.toolName, input, problems, jsonSchema });
  } catch (error) {
    // The arguments are as broken as before: that is the outcome, and the failed repair is only logged for the
    // operator.
    run.logger.warn(`Repairing the arguments of "${run.toolName}" failed.`, error);
    return undefined;
  }
}

function check(tool: ResolvedTool, read: ReadArguments): SchemaResult | Promise<SchemaResult> {
  return 'problem' in read
    ? { ok: false, problems: [{ path: '', message: read.problem }] }
    : tool.input.validate(read.value);
}

// More would fill the model's context with one mistake repeated.
const MOST_PROBLEMS = 50;

function invalidInput(toolName: string, problems: readonly Problem[]): ReturnType<typeof errorOutcome> {
  const lines = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ path, message }) => `- ${path === '' ? '' : `${path}: `}${message}`);
  if (problems.length > MOST_PROBLEMS) lines.push(`- and ${problems.length - MOST_PROBLEMS} more`);
  return errorOutcome('invalid_input', `Invalid arguments for "${toolName}":\n${lines.join('\n')}`);
}
