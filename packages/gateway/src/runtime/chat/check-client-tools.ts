import { LastcallError } from '@lastcall/core';
import { measureJson } from '@lastcall/core/internal';
import type { GatewayLimits } from '../../config/limits.ts';
import { toolNameProblem } from '../../config/reserved-tool-names.ts';
import type { ClientTool } from '../../domain/conversations/turn-settings.ts';
import { invalid, tooLarge } from '../../domain/entities/invalid.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import { clientToolSet } from '../toolset/client-tools.ts';

export type ClientToolLimits = Pick<GatewayLimits, 'clientTools' | 'clientToolBytes' | 'clientToolsBytes'>;

interface TakenNames {
  readonly limits: ClientToolLimits;
  /** True if the agent has a tool of this name. */
  readonly isTaken: (name: string) => boolean;
  readonly isOfServer: (name: string) => boolean;
}

/** Throws 422 or 413 for a caller's tools that cannot be offered, with the path of the problem. */
export function assertClientTools(tools: readonly ClientTool[], { limits, isTaken, isOfServer }: TakenNames): void {
  if (tools.length === 0) return;
  assertSizes(tools, limits);
  const names = tools.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const path = `tools[${index}].name`;
    const problem = toolNameProblem(name);
    if (problem !== undefined) throw invalid(path, problem);
    if (isTaken(name)) throw invalid(path, `must not be "${name}": the agent has a tool of that name.`);
    // This also holds while the server is down: the model would take the caller's answer for the server's.
    if (isOfServer(name))
      throw invalid(path, `must not be "${name}": such names belong to the tools of an MCP server.`);
    if (names.indexOf(name) < index) throw invalid(path, `is "${name}" a second time. Rename one.`);
  }
  try {
    clientToolSet(tools);
  } catch (error) {
    if (!(error instanceof LastcallError)) throw error;
    throw invalid('tools', `cannot be used: ${error.message}`);
  }
}

/**
 * All tools are prepared in one go, and the time that this blocks the event loop is proportional to the number of
 * values in their schemas.
 */
const MOST_VALUES = 10_000;

function assertSizes(tools: readonly ClientTool[], limits: ClientToolLimits): void {
  const { clientTools, clientToolBytes, clientToolsBytes } = limits;
  if (tools.length > clientTools) throw tooLarge('tools', { limit: clientTools, came: tools.length, unit: 'tools' });
  let sum = 0;
  for (const [index, one] of tools.entries()) {
    const bytes = Buffer.byteLength(toJson(one));
    sum += bytes;
    if (bytes > clientToolBytes)
      throw tooLarge(`tools[${index}]`, { limit: clientToolBytes, came: bytes, unit: 'bytes of JSON' });
  }
  if (sum > clientToolsBytes) throw tooLarge('tools', { limit: clientToolsBytes, came: sum, unit: 'bytes of JSON' });
  const { values } = measureJson(tools, { values: MOST_VALUES, characters: Infinity, levels: Infinity });
  if (values > MOST_VALUES) throw tooLarge('tools', { limit: MOST_VALUES, came: values, unit: 'values' });
}
