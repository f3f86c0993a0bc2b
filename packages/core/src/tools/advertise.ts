import type { JSONSchema7, LanguageModelV4FunctionTool, LanguageModelV4ProviderTool } from '@ai-sdk/provider';
import type { AiSdkTool } from '../contract/ai-sdk-tool.ts';
import { assertToolSet, type ToolSet } from '../contract/tool-set.ts';
import { ToolDefinitionError } from '../errors.ts';
import { errorText } from '../results/describe-error.ts';
import type { Session } from '../session/session.ts';
import { checkDescription, longestDescription } from './check-definition.ts';
import { type ResolvedTool, resolveTool } from './resolved-tool.ts';

/** A tool as it is described to a model. */
export type AdvertisedTool = LanguageModelV4FunctionTool | LanguageModelV4ProviderTool;

/**
 * The description of a tool set for a model, now. Tools that cannot be run here are left out, unless calls may wait for
 * an answer from outside.
 */
export async function advertise(
  tools: ToolSet,
  options: { session: Session; pendingAnswered?: boolean },
): Promise<AdvertisedTool[]> {
  assertToolSet(tools);
  const advertised: AdvertisedTool[] = [];
  for (const [name, definition] of Object.entries(tools)) {
    const tool = resolveTool(name, definition);
    if (isOffered(tool, options.pendingAnswered ?? false))
      advertised.push(await advertiseOne(name, tool, options.session));
  }
  return advertised;
}

/** Whether a call of the tool could be answered at all. */
export function isOffered(tool: ResolvedTool, pendingAnswered: boolean): boolean {
  return tool.execute !== undefined || tool.origin === 'provider' || pendingAnswered;
}

/** The current description. If it is a function, it is called, and its text must meet the same limits. */
export function describeTool(name: string, tool: ResolvedTool, session: Session): string {
  if (typeof tool.description === 'string') return tool.description;
  return checkDescription(askDescription(name, tool.description, session), name, longestDescription(tool.origin));
}

function askDescription(name: string, describe: (session: never) => string, session: Session): string {
  try {
    return describe(session as never);
  } catch (cause) {
    throw new ToolDefinitionError(name, 'description', `could not be evaluated: ${errorText(cause)}`, { cause });
  }
}

async function advertiseOne(name: string, tool: ResolvedTool, session: Session): Promise<AdvertisedTool> {
  const foreign = tool.definition as AiSdkTool;
  if (tool.origin === 'provider') {
    return { type: 'provider', id: (foreign.id ?? name) as `${string}.${string}`, name, args: foreign.args ?? {} };
  }
  const description = describeTool(name, tool, session);
  return {
    type: 'function',
    name,
    ...(description === '' ? {} : { description }),
    inputSchema: (await tool.input.jsonSchema()) as JSONSchema7,
    ...(foreign.strict === undefined ? {} : { strict: foreign.strict }),
    ...(foreign.inputExamples === undefined ? {} : { inputExamples: foreign.inputExamples as never }),
    ...(foreign.providerOptions === undefined ? {} : { providerOptions: foreign.providerOptions as never }),
  };
}
