import type { GrantCondition, GrantRequest } from '@lastcall/client';
import { type Card, type ShownInput, withVisibleControls } from '@lastcall/client/react';
import type { FormEvent, ReactElement } from 'react';
import { useKept } from '../form/use-kept.ts';
import { useMay } from '../session/session.tsx';
import { Button } from '../ui/button.tsx';
import { inWords } from './call-shape.ts';
import { buttonsClass, CardButton } from './card-button.tsx';
import { isFields } from './is-fields.ts';
import { draftName, type UsedCard } from './use-card.ts';
import { ClosedNote } from './whole-input.tsx';

type Length = GrantRequest['for'];

interface Chosen {
  readonly length?: Length | undefined;
  /** The names of the fields that may vary. */
  readonly free: readonly string[];
}

interface GrantFormProps {
  readonly call: Card;
  readonly card: UsedCard;
  readonly shown: ShownInput;
  readonly mayApprove: boolean;
  readonly onBack: () => void;
}

/**
 * Approves the call, and later ones like it. No length is preselected, and every field is pinned to its value until the user lets it vary.
 * Fields that the call does not have are not limited, and the form says so.
 */
export function GrantForm({ call, card, shown, mayApprove, onBack }: GrantFormProps): ReactElement {
  const isOperator = useMay('write');
  const [{ length, free }, keep] = useKept<Chosen>(draftName(call, 'grant'), () => ({ free: [] }));
  const fields = isFields(call.input) ? Object.entries(call.input) : [];
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (length === undefined || !mayApprove) return;
    const conditions = fields.filter(([name]) => !free.includes(name)).map(toCondition);
    card.send({ approve: true, grant: { for: length, ...(conditions.length === 0 ? {} : { conditions }) } });
  };
  const isOff = length === undefined || !mayApprove;
  return (
    <form noValidate onSubmit={send} className="flex flex-col gap-3">
      <fieldset disabled={card.isSending}>
        <legend className="text-sm font-medium">How long may the agent call it without asking?</legend>
        {LENGTHS.filter(({ length: one }) => one !== 'always' || isOperator).map(({ length: one, words }) => (
          <label key={one} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
            <input type="radio" name="length" checked={length === one} onChange={() => keep({ length: one, free })} />
            {words}
          </label>
        ))}
      </fieldset>
      {fields.length === 0 ? (
        <p className="text-xs text-quiet">Later calls may have any input that the tool takes.</p>
      ) : (
        <fieldset disabled={card.isSending}>
          <legend className="text-sm font-medium">Only with these values</legend>
          {fields.map(([name, value]) => (
            <label key={name} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
              <input
                type="checkbox"
                checked={!free.includes(name)}
                onChange={({ target }) =>
                  keep({ length, free: target.checked ? free.filter((one) => one !== name) : [...free, name] })
                }
              />
              <span className="min-w-0 break-words">
                <bdi>{withVisibleControls(name)}</bdi>: <bdi>{withVisibleControls(inWords(value))}</bdi>
              </span>
            </label>
          ))}
          <p className="text-xs text-quiet">
            {free.length > 0
              ? 'Fields without a tick, and fields that are not listed, may have any value that the tool takes.'
              : 'Fields that are not listed may have any value that the tool takes.'}
          </p>
        </fieldset>
      )}
      <p className="text-xs text-quiet">
        {isOperator
          ? 'It covers all calls of this tool by this agent, until you revoke it on the agent’s page or the tool changes.'
          : 'It covers calls of this tool by this agent in this space, until it is revoked or the tool changes.'}
      </p>
      <ClosedNote shown={shown} word="Approve and allow" />
      <div ref={card.buttons} className={buttonsClass}>
        <Button onClick={onBack} disabled={card.isSending}>
          Back
        </Button>
        <CardButton kind="primary" type="submit" card={card} isOff={isOff}>
          {card.isSending ? 'Sending …' : 'Approve and allow'}
        </CardButton>
      </div>
    </form>
  );
}

const LENGTHS: readonly { readonly length: Length; readonly words: string }[] = [
  { length: 'run', words: 'For the rest of the run' },
  { length: 'hour', words: 'For one hour' },
  { length: 'always', words: 'Always' },
];

function toCondition([name, value]: [string, unknown]): GrantCondition {
  return { field: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, equals: value };
}
