import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';
import type { InboxEvent, ToolResultOutcome } from '../inbox/inbox-event.ts';
import { eraseMessage } from './erase-entry.ts';
import { ERASED, ERASED_INPUT } from './mark.ts';

/** An event of an inbox without its texts. It keeps its ids, so that it is still delivered once. */
export function eraseEventPayload(payload: Json): Json {
  return toJson(eraseEvent(fromJson<InboxEvent>(payload)));
}

function eraseEvent(event: InboxEvent): InboxEvent {
  switch (event.type) {
    case 'space_message': {
      const { attachments: _attachments, ...message } = event;
      return { ...message, text: ERASED, from: { ...event.from, name: ERASED } };
    }
    case 'tool_result': {
      const by = event.resolvedBy;
      return {
        ...event,
        input: ERASED_INPUT,
        outcome: eraseResult(event.outcome),
        ...(by === undefined ? {} : { resolvedBy: { ...by, name: ERASED } }),
      };
    }
    case 'plan':
      return { ...event, name: ERASED, instruction: ERASED };
    case 'service':
      return { ...event, name: ERASED, data: ERASED };
    case 'chat':
      return {
        ...event,
        messages: event.messages.map(eraseMessage),
        settings: event.settings.save === false ? { save: false } : {},
      };
    case 'command':
      return { ...event, input: ERASED_INPUT };
  }
}

function eraseResult(outcome: ToolResultOutcome): ToolResultOutcome {
  switch (outcome.status) {
    case 'ok':
      return { status: 'ok', value: ERASED };
    case 'error':
      return { status: 'error', message: ERASED };
    case 'denied':
      return { status: 'denied', reason: ERASED };
    case 'approved':
      return { status: 'approved' };
    default:
      return outcome;
  }
}
