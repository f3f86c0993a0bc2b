export type { Card, CardAnswer, CardProps, CardState } from './card.ts';
export { FallbackCard } from './fallback-card.ts';
export { type CardComponents, LastcallProvider, type LastcallProviderProps, useLastcall } from './provider.ts';
export type { RunStep } from './run-steps.ts';
export type { AgentFailure, CardItem, SpaceItem, TextItem } from './space-view.ts';
export { ToolCard } from './tool-card.ts';
export { type PendingOptions, type UsedPending, usePending } from './use-pending.ts';
export { type UsedRun, useRun } from './use-run.ts';
export { type UsedSpace, useSpace } from './use-space.ts';
