import { join } from 'node:path';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { z } from 'zod';
import type { Stepper } from '../../gateway/durable-step.bench.ts';
import { task } from '../../overhead/contender.ts';
import { versionOf } from '../version-of.ts';

let ranAt: number[] = [];
const add = tool(async ({ a, b }: { a: number; b: number }) => (ranAt.push(performance.now()), a + b), {
  name: task.toolName,
  description: task.description,
  schema: z.object({ a: z.number(), b: z.number() }),
});

/** The databases are files in `folder`. */
export function steppers(folder: string): readonly Stepper[] {
  return [
    stepper('LangGraph, SqliteSaver, synchronous = FULL', { file: join(folder, 'full.db'), synchronous: 'FULL' }),
    stepper('LangGraph, SqliteSaver by default', { file: join(folder, 'plain.db') }),
  ];
}

/** The smallest graph for this work: a node that asks the model and a node that runs the tool. There is a checkpoint after each. */
function stepper(name: string, { file, synchronous }: { file: string; synchronous?: 'FULL' }): Stepper {
  const checkpointer = SqliteSaver.fromConnString(file);
  keepStatements(checkpointer.db);
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
        // A step is durable before the next one starts, as in ours.
        ...(synchronous === undefined ? {} : { durability: 'sync' as const }),
      };
      await graphOf(steps, checkpointer).invoke({ messages: [{ role: 'user', content: task.prompt }] }, config);
      return ranAt;
    },
    close: async () => void checkpointer.db.close(),
  };
}

/** Node 24 aborts when it collects a statement of better-sqlite3 12, so all statements are kept, also those of pragmas. */
function keepStatements(db: SqliteSaver['db']): void {
  const prepare = db.prepare.bind(db);
  db.prepare = ((sql: string) => {
    const statement = prepare(sql);
    kept.push(statement);
    return statement;
  }) as typeof db.prepare;
  db.pragma = (text: string) => {
    const statement = db.prepare(`pragma ${text}`);
    return statement.reader ? statement.all() : statement.run();
  };
}

const kept: unknown[] = [];

function graphOf(steps: number, checkpointer: SqliteSaver) {
  const tools = new ToolNode([add]);
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
