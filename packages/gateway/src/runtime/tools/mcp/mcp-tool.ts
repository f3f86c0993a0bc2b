import { type AiSdkTool, type AnyTool, fail, LastcallError, type ToolContext } from '@lastcall/core';
import { LRUCache } from 'lru-cache';
import { dataSchema } from '../../../config/data-schema.ts';
import type { McpServerConfig } from '../../../config/mcp-server.ts';
import { askingCall } from './asking-call.ts';
import type { CallFailure } from './call-failure.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { McpDefinition } from './mcp-definition.ts';
import { type McpResult, readMcpResult, type StoreFile } from './mcp-result.ts';
import type { People } from './people.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
/** The longest part of a server's description that a model is shown. */
const LONGEST_DESCRIPTION = 4_000;
/** The limit for all results together that a model has not seen yet. */
const MOST_CHARACTERS = 16_000_000;

export type McpTool = AiSdkTool &
  Partial<Pick<AnyTool, 'effects' | 'idempotent' | 'timeoutMs' | 'terminal' | 'approval'>>;

/** What a tool uses of the gateway. The functions are called at the start of `execute`. */
export interface McpToolHost {
  readonly connection: McpConnection;
  readonly people?: () => People;
  readonly files?: (isVisible: boolean) => StoreFile;
}

type ShownResult = Pick<McpResult, 'text' | 'images'>;

function shownResults(): LRUCache<string, ShownResult> {
  return new LRUCache({
    max: 1_000,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: ({ text, images }) => 1 + text.length + JSON.stringify(images).length,
  });
}

const noFiles = (): StoreFile => async () => undefined;

/** A tool of an MCP server, as configured for an agent. */
export function mcpTool(
  definition: McpDefinition,
  server: McpServerConfig,
  { connection, people = noPeople, files = noFiles }: McpToolHost,
): McpTool {
  const isVisible = server.tools?.[definition.name]?.visible === true;
  const traits = traitsOf(definition, server);
  const { terminal, approval } = server.tools?.[definition.name] ?? {};
  // Created with the first result, because a server may have a thousand tools that are never called.
  let shown: LRUCache<string, ShownResult> | undefined;
  const check = outputCheck(definition);
  const mayRepeat = traits.effects !== 'external' || traits.idempotent;
  const execute = async (input: unknown, ctx: ToolContext): Promise<unknown> => {
    const store = files(isVisible);
    const called = await askingCall(
      (asking) =>
        connection.call(definition, {
          input: input as Readonly<Record<string, unknown>>,
          mayRepeat,
          onProgress: (progress) => ctx.progress(progress),
          ...asking,
        }),
      people(),
      ctx,
    );
    if ('asks' in called) return called.asks;
    if ('failure' in called) return failed(server, definition, called.failure);
    const result = await readMcpResult(called.result, store);
    if (result.isError) return fail(result.text === '' ? 'The tool failed and did not say why.' : result.text);
    const problem = await check(result);
    // The tool has acted, so middleware must not retry the call.
    if (problem !== undefined) return fail(problem, { code: 'invalid_output' });
    shown ??= shownResults();
    shown.set(ctx.toolCallId, { text: result.text, images: result.images });
    return 'structured' in result ? result.structured : result.text;
  };
  return {
    description: describe(definition),
    inputSchema: dataSchema(definition.inputSchema),
    execute: execute as NonNullable<AiSdkTool['execute']>,
    // Undefined for a result from a cache. Then its value is shown.
    toModelOutput: ({ toolCallId }: { toolCallId: string }) => {
      const result = shown?.get(toolCallId);
      shown?.delete(toolCallId);
      return result && { type: 'content', value: [{ type: 'text', text: result.text }, ...result.images] };
    },
    ...traits,
    timeoutMs: server.timeout ?? DEFAULT_TIMEOUT_MS,
    ...(terminal === undefined ? {} : { terminal }),
    ...(approval === undefined ? {} : { approval }),
  };
}

function noPeople(): never {
  throw new LastcallError('no_run', 'This tool works only in a run of an agent.');
}

/** The hints of a server count only if the operator trusts it. The operator's own settings always count. */
function traitsOf(
  { name, annotations = {} }: McpDefinition,
  { trusted = false, tools = {} }: McpServerConfig,
): { readonly effects: 'none' | 'session' | 'external'; readonly idempotent: boolean } {
  const { effects } = tools[name] ?? {};
  const hinted = trusted && annotations.readOnlyHint === true ? 'none' : 'external';
  return { effects: effects ?? hinted, idempotent: trusted && annotations.idempotentHint === true };
}

function describe({ name, title, description }: McpDefinition): string {
  const text = (description ?? '').trim() || (title ?? '').trim() || name;
  if (text.length <= LONGEST_DESCRIPTION) return text;
  const characters = [...text];
  return characters.length <= LONGEST_DESCRIPTION ? text : `${characters.slice(0, LONGEST_DESCRIPTION).join('')}…`;
}

/** Checks a result against the tool's output schema, without the schema's regular expressions. */
function outputCheck({ name, outputSchema }: McpDefinition): (result: McpResult) => Promise<string | undefined> {
  if (outputSchema === undefined) return async () => undefined;
  const schema = dataSchema(outputSchema);
  return async (result) => {
    const beginning = `"${name}" has acted, but its result does not fit its output schema`;
    if (!('structured' in result)) return `${beginning}: it has no structured content.`;
    const checked = await schema['~standard'].validate(result.structured);
    return checked.issues === undefined
      ? undefined
      : `${beginning}: ${checked.issues
          .map(({ message }) => message)
          .join('; ')
          .slice(0, 1_000)}`;
  };
}

function failed(server: McpServerConfig, { name }: McpDefinition, { kind, message }: CallFailure): unknown {
  switch (kind) {
    case 'answered':
      return fail(message);
    case 'malformed':
      return fail(`"${name}" has acted, but its result cannot be read: ${message}`, { code: 'invalid_output' });
    case 'refused':
      return fail(`The MCP server "${server.name}" refused the call, so "${name}" did not run: ${message}`);
    case 'not-sent':
      return fail(`The MCP server "${server.name}" cannot be reached, so "${name}" was not called: ${message}`, {
        code: 'server_unavailable',
      });
    case 'lost':
      return fail(
        `The MCP server "${server.name}" was lost while "${name}" ran. It may have taken effect or not, and was not run again. (${message})`,
        { code: 'unknown_outcome' },
      );
  }
}
