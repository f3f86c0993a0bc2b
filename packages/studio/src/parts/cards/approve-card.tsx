import { type CardProps, type ShownInput, useShownInput } from '@lastcall/client/react';
import { Pencil } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { ApproveEdited } from './approve-edited.tsx';
import { Writing } from './asked.tsx';
import { buttonsClass, CardButton } from './card-button.tsx';
import { CardFrame } from './card-frame.tsx';
import { useCardPlace } from './card-place.tsx';
import { DenyForm } from './deny-form.tsx';
import { GrantForm } from './grant-form.tsx';
import { Refusal } from './refusal.tsx';
import { SideBySide } from './side-by-side.tsx';
import { type UsedCard, useCard, useCardKeys } from './use-card.ts';
import { ClosedNote, WholeInput } from './whole-input.tsx';

type Step = 'decide' | 'edit' | 'deny' | 'grant';

/**
 * Approve, edit, deny, or approve this call and later ones like it. Nothing is preselected, Enter alone does not approve, and nothing can be approved before it is
 * shown.
 */
export function ApproveCard(props: CardProps): ReactElement {
  const { call } = props;
  const card = useCard(props);
  const shown = useShownInput(call);
  const mayApprove = call.input !== undefined && shown.closed === 0;
  const [step, setStep] = useState<Step>('decide');
  const approve = (): void => {
    if (mayApprove) card.send({ approve: true });
  };
  const keys = {
    a: { label: 'Approve', run: approve },
    e: { label: 'Edit what is approved', run: () => setStep('edit') },
    d: { label: 'Deny', run: () => setStep('deny') },
  };
  const isDeciding = card.isOpen && card.isMine;
  const onKeyDown = useCardKeys(isDeciding && step === 'decide' ? keys : {});
  const back = (): void => setStep('decide');
  return (
    <CardFrame props={props} card={card} keys="a d e" onKeyDown={onKeyDown}>
      {(!isDeciding || step !== 'edit') && <WhatIsAsked call={call} shown={shown} />}
      {isDeciding && (step !== 'edit' || props.state.status === 'unsent') && <Refusal state={props.state} />}
      {isDeciding && step === 'decide' && (
        <Decide call={call} card={card} shown={shown} mayApprove={mayApprove} onStep={setStep} onApprove={approve} />
      )}
      {isDeciding && step === 'edit' && <ApproveEdited call={call} state={props.state} card={card} onBack={back} />}
      {isDeciding && step === 'deny' && <DenyForm call={call} card={card} onBack={back} />}
      {isDeciding && step === 'grant' && (
        <GrantForm call={call} card={card} shown={shown} mayApprove={mayApprove} onBack={back} />
      )}
    </CardFrame>
  );
}

function WhatIsAsked({ call, shown }: Pick<CardProps, 'call'> & { shown: ShownInput }): ReactElement {
  if (call.input === undefined) return <Writing text={call.inputText} />;
  // After a change, the input is the approved one.
  if (call.askedInput !== undefined)
    return <SideBySide asked={call.askedInput} changed={call.input} words={['Asked', 'Approved']} />;
  return (
    <div className="flex flex-col gap-1">
      {call.decision === undefined && <p className="text-sm text-quiet">The agent wants to call it with:</p>}
      <WholeInput shown={shown} />
    </div>
  );
}

interface DecideProps extends Pick<CardProps, 'call'> {
  readonly card: UsedCard;
  readonly shown: ShownInput;
  readonly mayApprove: boolean;
  readonly onStep: (step: Step) => void;
  readonly onApprove: () => void;
}

function Decide({ call, card, shown, mayApprove, onStep, onApprove }: DecideProps): ReactElement {
  const { isOneCall = false } = useCardPlace();
  return (
    <>
      <ClosedNote shown={shown} word="Approve" />
      <div ref={card.buttons} className={buttonsClass}>
        <Button kind="danger" disabled={card.isSending} onClick={() => onStep('deny')}>
          Deny …
        </Button>
        <Button disabled={card.isSending} onClick={() => onStep('edit')}>
          <Pencil size={16} aria-hidden /> Edit …
        </Button>
        {call.mayGrant !== false && !isOneCall && (
          <Button disabled={card.isSending} onClick={() => onStep('grant')}>
            Allow more …
          </Button>
        )}
        <CardButton
          kind="primary"
          card={card}
          isOff={!mayApprove}
          aria-describedby={mayApprove ? undefined : shown.reasonId}
          onClick={onApprove}
        >
          {card.isSending ? 'Sending …' : 'Approve'}
        </CardButton>
      </div>
    </>
  );
}
