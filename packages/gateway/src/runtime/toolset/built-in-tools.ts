import { mergeToolSets, type ToolSet } from '@lastcall/core';
import type { GatewayLimits } from '../../config/limits.ts';
import { goalTools } from '../tools/goal-tools.ts';
import { memoryTools } from '../tools/memory-tools.ts';
import { planTools } from '../tools/plan-tools.ts';
import { readOutputTool } from '../tools/read-output.ts';
import { spaceTools } from '../tools/space-tools.ts';
import { currentRun } from './current-run.ts';

export type BuiltInLimits = Pick<GatewayLimits, 'messageCharacters'>;

const byLimit = new Map<number, ToolSet>();

/** The built-in tools of every agent. */
export function agentBuiltIns({ messageCharacters }: BuiltInLimits): ToolSet {
  const known = byLimit.get(messageCharacters);
  if (known !== undefined) return known;
  const tools = mergeToolSets(
    spaceTools(currentRun, { messageCharacters }),
    goalTools(currentRun),
    memoryTools(currentRun),
    planTools(currentRun),
    conversationBuiltIns(),
  );
  byLimit.set(messageCharacters, tools);
  return tools;
}

/** The built-in tools of every conversation. It is in no space and stores only its messages. */
export function conversationBuiltIns(): ToolSet {
  return outputs;
}

const outputs: ToolSet = { read_output: readOutputTool(currentRun) };
