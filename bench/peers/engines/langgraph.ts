import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
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
      'Each node’s writes and a checkpoint are committed before the next node runs (`durability: "sync"`). After a crash whoever calls ' +
      'the graph again goes on from the last checkpoint; a tool that had no result yet is run again. It has no queue: a small server ' +
      'stands before it here, which answers when the step is done. PostgreSQL as it comes.',
    open,
    connect,
  },
];

async function open({ databaseUrl, steps, tool }: EnginePlace): Promise<Engine> {
  const checkpointer = PostgresSaver.fromConnString(databaseUrl);
  await checkpointer.setup();
  const invoke = async (run: string, { thread, count }: { thread: string; count: number }): Promise<void> => {
    const config = { configurable: { thread_id: thread }, recursionLimit: 2 * count + 2, durability: 'sync' as const };
    await graphOf({ run, steps: count, tool, checkpointer }).invoke({ messages: [new HumanMessage('Go on.')] }, config);
  };
  const server = await serveMessages((thread) => invoke('message', { thread, count: 1 }));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    store: 'postgres',
    runAll: (runs) => Promise.all(runs.map((run) => invoke(run, { thread: run, count: steps }))),
    // A thread without a checkpoint is an agent that sleeps: there is nothing to start.
    sleepers: async (count) => Array.from({ length: count }, (_, index) => `agent-${index}-${Date.now()}`),
    async close() {
      server.closeAllConnections();
      server.close();
      await checkpointer.end();
    },
  };
}

interface GraphSpec {
  readonly run: string;
  readonly steps: number;
  readonly tool: EnginePlace['tool'];
  readonly checkpointer: PostgresSaver;
}

/** The smallest graph that does it: a node that asks the model, a node that runs the tool, so many times. */
function graphOf({ run, steps, tool, checkpointer }: GraphSpec) {
  let ran = 0;
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async () => {
      const { name, input } = await askModel();
      return {
        messages: [new AIMessage({ content: '', tool_calls: [{ id: `call-${ran}`, name, args: { ...input } }] })],
      };
    })
    .addNode('tools', async () => {
      const content = String(tool(run));
      return { messages: [new ToolMessage({ content, tool_call_id: `call-${ran++}` })] };
    })
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .addConditionalEdges('tools', () => (ran < steps ? 'model' : END))
    .compile({ checkpointer });
}

/** One message of a thread at a time. */
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
