import { Socket } from 'node:net';
import { type ClientBase, Pool, type PoolConfig, types } from 'pg';

/** Times and counts are whole numbers far below 2^53; PostgreSQL's driver gives int8 as text unless it is told. */
const INT8 = 20;

interface PipelinedPoolConfig extends PoolConfig {
  /** Statements of one connection are sent without waiting for the answers of those before. */
  readonly pipeline?: boolean;
}

export function createPool(url: string, connections: number, more: PipelinedPoolConfig = {}): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    // Also for who waits because all are busy: they try again, and nothing is lost.
    connectionTimeoutMillis: 10_000,
    // A worker that stalls inside a transaction holds its thread's row: the server ends it, so that another can take over.
    idle_in_transaction_session_timeout: 2_500,
    lock_timeout: 5_000,
    statement_timeout: 15_000,
    types: {
      getTypeParser: (id, format) =>
        id === INT8 ? (text: string) => Number(text) : types.getTypeParser(id, format as 'text'),
    },
    ...more,
  });
  // A connection that dies while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // So would one that dies while it is lent out and no statement runs. Whoever has it learns of it with the next one.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Connections of the store: pipelined, and unable to write outside of a transaction. */
export function createStorePool(url: string, connections: number): Pool {
  return createPool(url, connections, { pipeline: true, stream: createBatchingSocket, onConnect: makeReadOnly });
}

/**
 * Outside of transactions the server refuses to write. Statements are on their way before BEGIN is answered: should it fail, they must
 * not be made one by one. `begin read write` lifts it.
 */
async function makeReadOnly(client: ClientBase): Promise<void> {
  await client.query('set session characteristics as transaction read only');
}

/**
 * Sends in one go what is written in one turn of the event loop: a statement is a few small messages, a transaction a
 * few statements, and each send wakes the server's process.
 */
function createBatchingSocket(): Socket {
  const socket = new Socket();
  // From here on only: `connect` puts back the socket's own `write`.
  socket.once('connect', () => batchWrites(socket));
  return socket;
}

function batchWrites(socket: Socket): void {
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  let isBatching = false;
  socket.write = (...given: unknown[]): boolean => {
    // Besides the driver's own cork, which ends with each statement.
    if (!isBatching) {
      isBatching = true;
      socket.cork();
      process.nextTick(() => {
        isBatching = false;
        socket.uncork();
      });
    }
    return write(...given);
  };
}
