import {
  type AuthProvider,
  type CallToolRequestParams,
  Client,
  type ElicitResult,
  isSpecType,
  type OAuthClientProvider,
  type PriorDiscovery,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { LRUCache } from 'lru-cache';
import { VERSION } from '../../../config/version.ts';
import type { Egress } from '../../../ports/egress/egress.ts';
import { atMost } from '../at-most.ts';
import { STREAM_ENDED } from './call-failure.ts';
import { LONGEST_MESSAGE, limitedResponse } from './limited-response.ts';
import { takeListEntries } from './list-entries.ts';
import type { McpDefinition } from './mcp-definition.ts';
import type { InputResponse } from './mcp-question.ts';
import { readInTurns } from './process-output.ts';
import { renewingTokens } from './renewing-tokens.ts';

/** How a server is reached, with its secrets filled in. */
export type McpAddress =
  | {
      readonly transport: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly login?: AuthProvider | OAuthClientProvider | undefined;
    }
  | {
      readonly transport: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };

/** A server's list, unchanged. */
export interface McpList {
  readonly entries: readonly unknown[];
  isTool(entry: unknown): entry is McpDefinition;
}

export interface McpCall {
  readonly definition: McpDefinition;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  onProgress(progress: McpProgress): void;
  /** Called when a server of 2025 asks while the call is open. */
  onAsk(params: unknown): Promise<InputResponse>;
  /** Continues a call of a server of 2026 that asked before. */
  readonly resume?: McpResume | undefined;
}

export interface McpResume {
  /** Sent back to the server unchanged. */
  readonly requestState?: string | undefined;
  readonly inputResponses?: Readonly<Record<string, InputResponse>> | undefined;
}

interface McpProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** One connection to a server. */
export interface McpClient {
  /** The discovered protocol of the server. With it, the next connection need not discover it again. */
  readonly prior: PriorDiscovery;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  list(): Promise<McpList>;
  call(call: McpCall): Promise<unknown>;
  /** The last output of a server's process on standard error. */
  lastWords(): string;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly egress: Egress;
  readonly prior?: PriorDiscovery | undefined;
  /** Aborts the attempt to connect. */
  readonly signal: AbortSignal;
  /** How long each message of the attempt may take. */
  readonly timeoutMs: number;
  onListChanged(): void;
}

/** How long a server may take to list its tools. */
const LIST_MS = 10_000;
/** Enough for the 1,000 tools of a server that sends five at a time. A page may have 10 MB. */
const MOST_PAGES = 200;
/** A call ends by its own signal. The client's timeouts are disabled, because one of them would not cancel the call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Connects. This module loads the MCP package: import it when a server is first used. */
export async function openClient(address: McpAddress, options: OpenOptions): Promise<McpClient> {
  const { transport, lastWords } = openTransport(address, options.egress);
  const entries = takeListEntries(transport);
  if (address.transport === 'http') reportEndedStreams(transport);
  const client = new Client(
    { name: 'lastcall', version: VERSION },
    {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs(address, options.timeoutMs) } },
      capabilities: { elicitation: { form: {}, url: {} } },
      listMaxPages: MOST_PAGES,
      // The answer may come days later, through another gateway.
      inputRequired: { autoFulfill: false },
      // Asks servers of 2026 for notifications. They are read below, without the client's own delays.
      listChanged: { tools: { autoRefresh: false, onChanged: () => {} } },
    },
  );
  const open = new Set<McpCall>();
  client.setRequestHandler('elicitation/create', async ({ params }) => (await askIn(open, params)) as ElicitResult);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  client.onclose = () => resolve();
  try {
    const { prior, signal, timeoutMs } = options;
    const connecting = client.connect(transport, {
      timeout: timeoutMs,
      signal,
      ...(prior === undefined ? {} : { prior }),
    });
    await unlessAborted(connecting, signal);
  } catch (error) {
    await transport.close().catch(() => {});
    throw error;
  }
  readNotices(transport, options.onListChanged);
  if (address.transport === 'stdio') readInTurns(transport);
  const discover = client.getDiscoverResult();
  return {
    prior: discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover },
    closed,
    lastWords,
    async list() {
      entries.clear();
      await client.listTools(undefined, { cacheMode: 'bypass', timeout: LIST_MS });
      return { entries: entries.all, isTool: isSpecType.Tool as McpList['isTool'] };
    },
    async call(call) {
      const { name, inputSchema } = call.definition;
      open.add(call);
      try {
        return await client.callTool({ name, arguments: { ...call.input }, ...call.resume } as CallToolRequestParams, {
          signal: call.signal,
          timeout: NO_TIMEOUT_MS,
          onprogress: (progress) => call.onProgress(progress),
          allowInputRequired: true,
          // The output schema is left out: the client would compile an untrusted schema to code, and run its patterns.
          toolDefinition: { name, inputSchema } as Tool,
        });
      } finally {
        open.delete(call);
      }
    },
    async close() {
      await endSession(transport);
      await client.close();
    },
  };
}

/** Tells a server over HTTP that its session is no longer used, so that the server need not keep it. */
async function endSession(transport: Transport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport)
    await atMost(
      END_SESSION_MS,
      transport.terminateSession().catch(() => {}),
    );
}

/** A server that hangs must not delay the end of the gateway. */
const END_SESSION_MS = 1_000;

/**
 * How long the probe for a server's protocol version may take. Over HTTP there is always an answer. A program of 2025
 * may never answer it, so time must remain for the older handshake; a program of 2026 has to start within a third of
 * the time.
 */
function probeMs({ transport }: McpAddress, timeoutMs: number): number {
  return Math.min(LONGEST_PROBE_MS, transport === 'http' ? timeoutMs : Math.ceil(timeoutMs / 3));
}

const LONGEST_PROBE_MS = 30_000;

/** The client ignores the signal while it asks for the version. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<void>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => {});
    aborted.catch(() => {});
  }
}

/**
 * A server of 2025 does not say which call a question belongs to. If several calls are running, the question could
 * reach the wrong people, so it is cancelled.
 */
async function askIn(open: ReadonlySet<McpCall>, params: unknown): Promise<InputResponse | { action: 'cancel' }> {
  const [call, ...others] = open;
  return call === undefined || others.length > 0 ? { action: 'cancel' } : await call.onAsk(params);
}

function openTransport(address: McpAddress, egress: Egress): { transport: Transport; lastWords: () => string } {
  if (address.transport === 'http') {
    const { url, headers, login } = address;
    const authProvider = login !== undefined && 'redirectToAuthorization' in login ? renewingTokens(login) : login;
    return { transport: httpTransport({ url, headers, authProvider }, egress), lastWords: () => '' };
  }
  const { command, args, env } = address;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: 'pipe',
    maxBufferSize: LONGEST_MESSAGE,
  });
  let words = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    words = `${words}${chunk.toString('utf8', Math.max(0, chunk.length - LAST_WORDS))}`.slice(-LAST_WORDS);
  });
  return { transport, lastWords: () => words };
}

const LAST_WORDS = 1_000;

type HttpAddress = Extract<McpAddress, { transport: 'http' }>;

/**
 * The configured headers are for the server only. With `requestInit`, the client would send them to authorization
 * servers too.
 */
function httpTransport(
  {
    url,
    headers,
    authProvider,
  }: Pick<HttpAddress, 'url' | 'headers'> & { authProvider?: AuthProvider | OAuthClientProvider | undefined },
  egress: Egress,
): StreamableHTTPClientTransport {
  const server = new URL(url);
  const fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const all = new Headers(init.headers);
    if (new URL(input).origin === server.origin)
      for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return limitedResponse(await egress.fetch(input, { ...init, headers: all }));
  };
  return new StreamableHTTPClientTransport(server, { fetch, ...(authProvider === undefined ? {} : { authProvider }) });
}

/** Gets the tokens for an authorization that a person has given. */
export async function finishAuthorization(
  { url, authProvider, egress }: { url: string; authProvider: OAuthClientProvider; egress: Egress },
  query: URLSearchParams,
): Promise<void> {
  await httpTransport({ url, headers: {}, authProvider }, egress).finishAuth(query);
}

/** Reports an error for a call whose stream ended without an answer. Otherwise the call would wait for its timeout. */
function reportEndedStreams(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      if (id !== undefined) transport.onmessage?.({ jsonrpc: '2.0', id, error: STREAM_ENDED });
    };
    await send(message, { ...options, onRequestStreamEnd });
  };
}

/**
 * Reports a changed list at once, and passes progress on at most 20 times per second for each call. The rest is dropped
 * before it is processed.
 */
function readNotices(transport: Transport, onListChanged: () => void): void {
  const shownAt = new LRUCache<string | number, number>({ max: 1_000 });
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    const method = 'method' in message ? message.method : undefined;
    if (method === 'notifications/tools/list_changed') onListChanged();
    if (method === 'notifications/progress') {
      const { progressToken = '' } = ((message as { params?: object }).params ?? {}) as { progressToken?: string };
      const now = performance.now();
      if (now - (shownAt.get(progressToken) ?? Number.NEGATIVE_INFINITY) < PROGRESS_MS) return;
      shownAt.set(progressToken, now);
    }
    onmessage?.(message, extra);
  };
}

const PROGRESS_MS = 50;
