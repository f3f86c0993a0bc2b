import type { Client } from 'pg';
import type { ReconnectingClient } from './reconnecting-client.ts';

/** The key of the lock. PostgreSQL keeps such locks apart from those of rows and tables. */
const LOCK = [0x4c_43_42_53, 1];
/** How long another gateway is believed to listen still. A notice that no gateway hears does no harm. */
const REMEMBERED_MS = 10_000;

/**
 * Knows if another gateway listens. A gateway that is alone sends nothing: all its readers are in its own process.
 *
 * Each gateway's listening connection holds a shared lock, which the database releases when the connection ends.
 * 1. A gateway takes the lock, then it listens, then its readers look at the store.
 * 2. A gateway commits its events, then it looks for locks.
 *
 * So the readers of a gateway that took its lock too late to be seen find the events in the store.
 */
export class OtherListeners {
  /** Of our own listening connection. */
  #pid: number | undefined;
  #knownUntil = Number.NEGATIVE_INFINITY;

  /** Takes the lock for our listening connection. */
  async lock(client: Client): Promise<void> {
    const { rows } = await client.query<{ pid: number }>(
      'select pg_backend_pid() as pid, pg_advisory_lock_shared($1::int, $2::int)',
      LOCK,
    );
    this.#pid = rows[0]?.pid;
  }

  /** Forgets our listening connection, because its number may be given to another one. */
  unlocked(): void {
    this.#pid = undefined;
  }

  async exist(client: ReconnectingClient): Promise<boolean> {
    if (performance.now() < this.#knownUntil) return true;
    const others = await client.query(
      `select from pg_locks where locktype = 'advisory' and classid = $1::oid and objid = $2::oid and objsubid = 2
         and database = (select oid from pg_database where datname = current_database())
         and mode = 'ShareLock' and granted and pid is distinct from $3::int
       limit 1`,
      [...LOCK, this.#pid],
    );
    if (others.length > 0) this.#knownUntil = performance.now() + REMEMBERED_MS;
    return others.length > 0;
  }
}
