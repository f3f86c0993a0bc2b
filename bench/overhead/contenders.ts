import { bareLoop } from './bare-loop.ts';
import type { Contender } from './contender.ts';
import { lastcallRun, lastcallStream } from './lastcall.ts';

const PEERS = ['ai-sdk', 'openai-agents', 'mastra', 'langchain'] as const;

/** All contenders, ours first. */
export async function contenders(): Promise<readonly Contender[]> {
  const peers = await Promise.all(PEERS.map(loadPeer));
  return [lastcallRun, lastcallStream, bareLoop, ...peers.flat()];
}

// Imported by URL: the peers are installed separately and may be missing when the types are checked.
async function loadPeer(name: string): Promise<readonly Contender[]> {
  const module = await import(new URL(`../peers/overhead/${name}.ts`, import.meta.url).href);
  return (module as { contenders: readonly Contender[] }).contenders;
}
