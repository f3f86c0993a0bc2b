import { type CardProps, choicesOf, type ShownInput, useShownInput, withVisibleControls } from '@lastcall/client/react';
import { type ReactElement, useState } from 'react';
import { SelectField } from '../ui/field.tsx';
import { Asked } from './asked.tsx';
import { CardButton } from './card-button.tsx';
import { CardFrame } from './card-frame.tsx';
import { FormCard } from './form-card.tsx';
import { Refusal } from './refusal.tsx';
import { type UsedCard, useCard } from './use-card.ts';
import { ClosedNote } from './whole-input.tsx';

type Choices = NonNullable<ReturnType<typeof choicesOf>>;

/** A choice of one. Each option is a button; many short ones are a list. Every option is shown in full. */
export function ChooseCard(props: CardProps): ReactElement {
  const choices = choicesOf(props.call.resultSchema);
  if (choices === undefined || props.call.kind === 'approval') return <FormCard {...props} />;
  return <Choose props={props} choices={choices} />;
}

function Choose({ props, choices }: { props: CardProps; choices: Choices }): ReactElement {
  const card = useCard(props);
  const shown = useShownInput(props.call);
  const isList = choices.length > MOST_BUTTONS && choices.every(({ text }) => text.length <= LONGEST_OPTION);
  const Options = isList ? LongList : Buttons;
  return (
    <CardFrame props={props} card={card}>
      <Asked call={props.call} shown={shown} />
      {card.isOpen && card.isMine && (
        <>
          <Refusal state={props.state} />
          <ClosedNote shown={shown} word="Choosing" />
          <Options card={card} shown={shown} choices={choices} />
        </>
      )}
    </CardFrame>
  );
}

const MOST_BUTTONS = 6;
/** A browser does not wrap the options of a select. */
const LONGEST_OPTION = 60;

interface OptionsProps {
  readonly card: UsedCard;
  readonly shown: ShownInput;
  readonly choices: Choices;
}

function Buttons({ card, shown, choices }: OptionsProps): ReactElement {
  return (
    <div ref={card.buttons} className="flex flex-col gap-2">
      {choices.map(({ text, value }, index) => (
        <CardButton
          key={index}
          card={card}
          isOff={shown.closed > 0}
          aria-describedby={shown.closed > 0 ? shown.reasonId : undefined}
          className="w-full justify-start wide:w-full"
          onClick={() => card.send({ result: value })}
        >
          <bdi className="min-w-0 text-left wrap-anywhere whitespace-pre-wrap">{withVisibleControls(text)}</bdi>
        </CardButton>
      ))}
    </div>
  );
}

function LongList({ card, shown, choices }: OptionsProps): ReactElement {
  const [chosen, setChosen] = useState('');
  return (
    <div ref={card.buttons} className="flex flex-wrap items-end gap-2">
      <div className="min-w-40 flex-1">
        <SelectField label="Choose one" value={chosen} onChange={({ target }) => setChosen(target.value)}>
          <option value="">—</option>
          {choices.map(({ text }, index) => (
            <option key={index} value={index}>
              {withVisibleControls(text)}
            </option>
          ))}
        </SelectField>
      </div>
      <CardButton
        kind="primary"
        card={card}
        isOff={chosen === '' || shown.closed > 0}
        aria-describedby={shown.closed > 0 ? shown.reasonId : undefined}
        onClick={() => card.send({ result: choices[Number(chosen)]?.value })}
      >
        Send
      </CardButton>
    </div>
  );
}
