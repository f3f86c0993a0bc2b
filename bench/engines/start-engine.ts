import type { Engine, EngineModule, EngineSettings, EngineStore } from './engine.ts';
import { type RemoteProcess, startProcess } from './ipc.ts';

/** An engine's worker and a client of it, each in a separate process. */
export interface StartedEngine extends Pick<EngineModule, 'name' | 'of' | 'guarantee'> {
  readonly worker: RemoteProcess;
  readonly client: RemoteProcess;
  readonly store: EngineStore;
  stop(): Promise<void>;
}

/** The file of an engine, in this folder or among the peers. */
export interface EngineFile {
  readonly file: string;
  readonly name: string;
}

export async function startEngine({ file, name }: EngineFile, settings: EngineSettings): Promise<StartedEngine> {
  const [worker, client] = ['engine-child.ts', 'sender-child.ts'].map((child) =>
    startProcess(new URL(child, import.meta.url), [file, name]),
  ) as [RemoteProcess, RemoteProcess];
  try {
    const described = await worker.call<Pick<EngineModule, 'name' | 'of' | 'guarantee'>>('describe');
    const { address, store } = await worker.call<Pick<Engine, 'address' | 'store'>>('open', settings);
    await client.call('connect', address);
    return { ...described, worker, client, store, stop: () => stop(worker, client) };
  } catch (error) {
    await Promise.all([worker.end(), client.end()]);
    throw error;
  }
}

async function stop(worker: RemoteProcess, client: RemoteProcess): Promise<void> {
  // A process that crashed has nothing left to close.
  await Promise.allSettled([client.call('close')]);
  await Promise.allSettled([worker.call('close')]);
  await Promise.all([client.end(), worker.end()]);
}
