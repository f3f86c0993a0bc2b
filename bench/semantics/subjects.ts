import { subject as lastcall } from './lastcall.ts';
import type { Subject } from './subject.ts';

const PEERS = ['ai-sdk', 'openai-agents', 'mastra', 'langchain'] as const;

export type SubjectName = 'lastcall' | (typeof PEERS)[number];

export const SUBJECTS: readonly SubjectName[] = ['lastcall', ...PEERS];

// Imported by URL: the peers are installed separately and may be missing when the types are checked.
export async function loadSubject(name: SubjectName): Promise<Subject> {
  if (name === 'lastcall') return lastcall;
  const module = await import(new URL(`../peers/semantics/${name}.ts`, import.meta.url).href);
  return (module as { subject: Subject }).subject;
}
