import { join } from 'node:path';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';
import { task } from '../../overhead/contender.ts';
import { countingModel } from '../../overhead/counting-model.ts';
import { versionOf } from '../version-of.ts';

const inputSchema = z.object({ a: z.number(), b: z.number() });
let ranAt: number[] = [];
const add = async ({ a, b }: { a: number; b: number }): Promise<number> => (ranAt.push(performance.now()), a + b);

/** Those that are compared, with files in the folder. */
export function steppers(folder: string): readonly object[] {
  return [
    langgraph('LangGraph, SqliteSaver, synchronous = FULL', { file: join(folder, 'full.db'), synchronous: 'FULL' }),
    langgraph('LangGraph, SqliteSaver as it comes', { file: join(folder, 'plain.db') }),
    inMemory,
  ];
}

/** The smallest graph that does it: a node that asks the model, a node that runs the tool. Its steps are checkpointed in turn. */
function langgraph(name: string, { file, synchronous }: { file: string; synchronous?: 'FULL' }): object {
  const checkpointer = SqliteSaver.fromConnString(file);
  if (synchronous !== undefined) checkpointer.db.pragma(`synchronous = ${synchronous}`);
  let runs = 0;
  return {
    name,
    of: versionOf('@langchain/langgraph-checkpoint-sqlite'),
    async run(steps: number) {
      ranAt = [];
      const config = {
        configurable: { thread_id: `run-${++runs}` },
        recursionLimit: 2 * steps + 2,
        // Ours is durable before it goes on; so is this.
        ...(synchronous === undefined ? {} : { durability: 'sync' as const }),
      };
      await graphOf(steps, checkpointer).invoke({ messages: [{ role: 'user', content: task.prompt }] }, config);
      return ranAt;
    },
    close: async () => void checkpointer.db.close(),
  };
}

function graphOf(steps: number, checkpointer: SqliteSaver) {
  const named = { name: task.toolName, description: task.description, schema: inputSchema };
  const tools = new ToolNode([langchainTool(add, named)]);
  let asked = 0;
  const ask = async (): Promise<{ messages: BaseMessage[] }> => ({ messages: [replyOf(asked++ < steps ? asked : 0)] });
  const next = ({ messages }: typeof MessagesAnnotation.State): 'tools' | typeof END =>
    (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END;
  return new StateGraph(MessagesAnnotation)
    .addNode('model', ask)
    .addNode('tools', tools)
    .addEdge(START, 'model')
    .addConditionalEdges('model', next)
    .addEdge('tools', 'model')
    .compile({ checkpointer });
}

function replyOf(call: number): AIMessage {
  if (call === 0) return new AIMessage(task.answer);
  const made = { name: task.toolName, args: JSON.parse(task.input) as object, id: `call-${call}` };
  return new AIMessage({ content: '', tool_calls: [{ ...made, type: 'tool_call' }] });
}

const inMemory: object = {
  name: '`streamText`, in memory',
  of: versionOf('ai'),
  async run(steps: number) {
    ranAt = [];
    const tools = { [task.toolName]: tool({ description: task.description, inputSchema, execute: add }) };
    const stopWhen = isStepCount(steps + 1);
    const result = streamText({ model: countingModel(steps), prompt: task.prompt, tools, stopWhen });
    for await (const _part of result.fullStream);
    return ranAt;
  },
  close: async () => {},
};
