import { randomUUID } from 'node:crypto';
import {
  type AuthInfo,
  isInitializeRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';

interface Session {
  readonly keyId: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

/** Each session holds a server of a few kilobytes. Above the limit, the least recently used session is closed. */
const MAX_SESSIONS = 1_000;
/**
 * The share of the sessions, and so of their streams, that one key may have. Above it, another session of the same key is closed,
 * and other keys lose none.
 */
const SHARE_OF_A_KEY = 0.1;
/** Longer than a person takes to answer a question. */
export const LONGEST_SILENCE_MS: number = 4 * 3_600_000;

interface Limits {
  readonly keepAliveMs: number;
  readonly max?: number;
  readonly silenceMs?: number;
}

interface SessionRequest {
  readonly authInfo: AuthInfo;
  readonly parsedBody: unknown;
}

/**
 * The sessions of clients that speak the protocol of 2025. They are kept in memory: a client whose session was on another gateway
 * or was closed gets 404 and opens a new one, as the protocol says. Only the connection is lost with a session, because calls are
 * runs.
 */
export class McpSessions {
  readonly #createServer: () => Server;
  readonly #keepAliveMs: number;
  readonly #sessions: LRUCache<string, Session>;
  readonly #maxOfKey: number;

  constructor(createServer: () => Server, { keepAliveMs, max = MAX_SESSIONS, silenceMs = LONGEST_SILENCE_MS }: Limits) {
    this.#createServer = createServer;
    this.#keepAliveMs = keepAliveMs;
    this.#maxOfKey = Math.ceil(max * SHARE_OF_A_KEY);
    this.#sessions = new LRUCache<string, Session>({
      max,
      ttl: silenceMs,
      updateAgeOnGet: true,
      dispose: ({ transport }) => void transport.close(),
    });
  }

  async fetch(request: Request, { authInfo, parsedBody }: SessionRequest): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null && !isInitializeRequest(parsedBody))
      return refuse(400, 'Send initialize first, and its Mcp-Session-Id header with every request after it.');
    const session = id === null ? await this.#open(authInfo.clientId) : this.#sessions.get(id);
    // A session of another key is not found.
    if (session === undefined || session.keyId !== authInfo.clientId) return refuse(404, 'Session not found');
    return await session.transport.handleRequest(request, { authInfo, parsedBody });
  }

  close(): void {
    this.#sessions.clear();
  }

  async #open(keyId: string): Promise<Session> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      keepAliveMs: this.#keepAliveMs,
      onsessioninitialized: (id) => {
        this.#makeRoom(keyId);
        this.#sessions.set(id, session);
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const session = { keyId, transport };
    await this.#createServer().connect(transport);
    return session;
  }

  #makeRoom(keyId: string): void {
    const leastRecentFirst = [...this.#sessions.rkeys()];
    const own = leastRecentFirst.filter((id) => this.#sessions.peek(id)?.keyId === keyId);
    const excess = own.length - this.#maxOfKey + 1;
    for (const id of own.slice(0, Math.max(0, excess))) this.#sessions.delete(id);
  }
}

function refuse(status: number, message: string): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code: status === 404 ? -32001 : -32000, message }, id: null },
    { status },
  );
}
