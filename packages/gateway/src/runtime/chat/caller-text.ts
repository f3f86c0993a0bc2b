import type { CallerText, TurnSettings } from '../../domain/conversations/turn-settings.ts';
import type { TurnRequest } from './turn-request.ts';

type Asked = Pick<TurnRequest, 'caller' | 'systemText' | 'settings'>;

/**
 * The settings of a run, with the system text that the caller sent. A caller with a key may instruct the agent. Texts
 * of an entity are kept apart from the instructions: its system text, and its reminder, which a nudge would otherwise
 * put into the system role.
 */
export function settingsFor({ caller, systemText = '', settings = {} }: Asked): NonNullable<TurnRequest['settings']> {
  if (caller.kind === 'key') return withInstructions(settings, systemText);
  const { terminating, ...others } = settings;
  const { nudgeMessage, ...contract } = terminating ?? { toolIds: [] };
  const callerText: readonly CallerText[] = [
    ...(systemText.trim() === '' ? [] : [{ from: 'system message', text: systemText } as const]),
    ...(nudgeMessage === undefined ? [] : [{ from: 'nudge_message', text: nudgeMessage } as const]),
  ];
  return {
    ...others,
    ...(terminating === undefined ? {} : { terminating: contract }),
    ...(callerText.length === 0 ? {} : { callerText }),
  };
}

function withInstructions<S extends Pick<TurnSettings, 'instructions'>>(settings: S, systemText: string): S {
  const texts = [settings.instructions ?? '', systemText].filter((text) => text.trim() !== '');
  return texts.length === 0 ? settings : { ...settings, instructions: texts.join('\n\n') };
}
