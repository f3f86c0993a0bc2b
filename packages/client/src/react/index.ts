'use client';

export type { RunStep } from '../timeline/steps.ts';
export { type CardKind, cardKind, choicesOf, questionOf, valueInWords, yesAndNo } from './answer-shape.ts';
export type { Card, CardAnswer, CardProps, CardState } from './card.ts';
export { FallbackCard } from './fallback-card.ts';
export type { InputPart } from './input-parts.ts';
export { type CardComponents, LastcallProvider, type LastcallProviderProps, useLastcall } from './provider.ts';
export type { AgentFailure, CardItem, SpaceItem, TextItem } from './space-view.ts';
export { ToolCard } from './tool-card.ts';
export { type PendingOptions, type UsedPending, usePending } from './use-pending.ts';
export { type RunOptions, type UsedRun, useRun } from './use-run.ts';
export { type ShownInput, useShownInput } from './use-shown-input.ts';
export { type UsedSpace, useSpace } from './use-space.ts';
export { withVisibleControls } from './visible-text.ts';
