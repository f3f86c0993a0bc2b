import type { EngineModule } from './engine.ts';

/** Imported by URL: the peers are installed separately and may be missing when the types are checked. */
export async function loadEngine(file: string, name: string): Promise<EngineModule> {
  const { engines } = (await import(new URL(file, import.meta.url).href)) as { engines: readonly EngineModule[] };
  const found = engines.find((engine) => engine.name === name);
  if (found === undefined) throw new Error(`${file} has no engine named ${name}.`);
  return found;
}
