import type { Card } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { useKept } from '../form/use-kept.ts';
import { Button } from '../ui/button.tsx';
import { TextArea } from '../ui/field.tsx';
import { buttonsClass, CardButton } from './card-button.tsx';
import { draftName, type UsedCard } from './use-card.ts';

interface DenyFormProps {
  readonly call: Card;
  readonly card: UsedCard;
  readonly onBack: () => void;
}

/** A denial needs a reason: without one, models ask again. */
export function DenyForm({ call, card, onBack }: DenyFormProps): ReactElement {
  const [reason, setReason] = useKept(draftName(call, 'deny'), () => '');
  const isEmpty = reason.trim() === '';
  return (
    <div className="flex flex-col gap-3">
      <TextArea
        label="Why not?"
        hint="The agent reads it. Without a reason it would only ask again."
        autoFocus
        rows={2}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      <div ref={card.buttons} className={buttonsClass}>
        <Button onClick={onBack} disabled={card.isSending}>
          Back
        </Button>
        <CardButton kind="danger" card={card} isOff={isEmpty} onClick={() => card.send({ deny: reason.trim() })}>
          {card.isSending ? 'Sending …' : 'Deny'}
        </CardButton>
      </div>
    </div>
  );
}
