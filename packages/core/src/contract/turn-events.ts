import type { Usage } from '../model/usage.ts';
import type { CallEvent } from '../results/call-events.ts';
import type { Stop } from '../transcript/stop.ts';

/** The events of a turn. The deltas after a step's last `step.start` concatenate to what is stored. */
export type TurnEvent =
  | { readonly type: 'step.start'; readonly step: number; readonly attempt: number }
  | { readonly type: 'text.delta'; readonly step: number; readonly text: string }
  | { readonly type: 'reasoning.delta'; readonly step: number; readonly text: string }
  | { readonly type: 'tool-input-start'; readonly callId: string; readonly toolName: string }
  | { readonly type: 'tool-input-delta'; readonly callId: string; readonly delta: string }
  | CallEvent
  | { readonly type: 'nudge'; readonly step: number; readonly text: string }
  | { readonly type: 'rewind'; readonly step: number; readonly reason: string; readonly guidance: string }
  | { readonly type: 'step.end'; readonly step: number; readonly text: string; readonly usage: Usage }
  | { readonly type: 'turn.end'; readonly stop: Stop };
