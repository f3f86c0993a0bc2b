import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import type { Engine, EngineModule, EnginePlace } from '../../engines/engine.ts';
import { openHttpSender } from '../../engines/http-sender.ts';
import { versionOf } from '../version-of.ts';
import { askModel } from './agent-step.ts';

export const engines: readonly EngineModule[] = [
  {
    name: 'LangGraph, PostgreSQL',
    of: versionOf('@langchain/langgraph-checkpoint-postgres'),
    guarantee:
      'Each node’s writes and a checkpoint are committed before the next node runs (`durability: "sync"`). After a crash the next call ' +
      'of the graph continues from the last checkpoint; a tool that had no result yet is run again. It has no queue, so a small server ' +
      'in front of it answers when the step is done. PostgreSQL with its defaults.',
    open,
    connect,
  },
];

async function open(place: EnginePlace): Promise<Engine> {
  const { databaseUrl, steps } = place;
  const checkpointer = PostgresSaver.fromConnString(databaseUrl);
  await checkpointer.setup();
  const [run, message] = [graphOf(place, checkpointer), graphOf({ ...place, steps: 1 }, checkpointer)];
  const invoke = async (graph: typeof run, thread: string): Promise<void> => {
    const config = { configurable: { thread_id: thread }, recursionLimit: 2 * steps + 2, durability: 'sync' as const };
    await graph.invoke({ messages: [new HumanMessage('Go on.')] }, config);
  };
  const server = await serveMessages((thread) => invoke(message, thread));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    store: 'postgres',
    runAll: (runs) => Promise.all(runs.map((thread) => invoke(run, thread))),
    // A thread without a checkpoint is an agent that sleeps: there is nothing to start.
    sleepers: async (count) => Array.from({ length: count }, (_, index) => `agent-${index}-${Date.now()}`),
    async close() {
      server.closeAllConnections();
      server.close();
      await checkpointer.end();
    },
  };
}

/** The smallest graph for this work: a node that asks the model and a node that runs the tool, repeated. */
function graphOf({ steps, modelAnswers, tool }: EnginePlace, checkpointer: PostgresSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => {
      const { name, input } = await askModel({ modelAnswers });
      const call = { id: `call-${messages.length}`, name, args: { ...input } };
      return { messages: [new AIMessage({ content: '', tool_calls: [call] })] };
    })
    .addNode('tools', async ({ messages }, { configurable }) => {
      const content = String(tool(String(configurable?.thread_id)));
      return { messages: [new ToolMessage({ content, tool_call_id: `call-${messages.length - 1}` })] };
    })
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .addConditionalEdges('tools', ({ messages }) => (stepsDone(messages) < steps ? 'model' : END))
    .compile({ checkpointer });
}

/** Steps since the last message of a person. Each step has two messages. */
function stepsDone(messages: readonly BaseMessage[]): number {
  return (messages.length - 1 - messages.findLastIndex((message) => message instanceof HumanMessage)) / 2;
}

/** Handles one message of a thread at a time. */
async function serveMessages(handle: (thread: string) => Promise<void>): Promise<Server> {
  const last = new Map<string, Promise<void>>();
  const server = createServer((request, response) => {
    const thread = request.url ?? '';
    const done = (last.get(thread) ?? Promise.resolve()).then(() => handle(thread));
    last.set(thread, done);
    request.resume();
    done.then(
      () => response.writeHead(200).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function connect(url: string): ReturnType<EngineModule['connect']> {
  const http = openHttpSender(url);
  return { send: (agent, number) => http.post(`/${agent}`, { number }), close: async () => http.close() };
}
