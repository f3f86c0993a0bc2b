import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { modelList } from '../../data/models.ts';
import { SelectField, TextField } from '../ui/field.tsx';

interface ModelFieldProps {
  /** Undefined: the gateway's default. */
  readonly model: string | undefined;
  readonly onChange: (model: string | undefined) => void;
  readonly problem?: string | undefined;
}

/** The models that the gateway knows, with a reason for those that cannot be used, and any other model by name. */
export function ModelField({ model, onChange, problem }: ModelFieldProps): ReactElement {
  const { data: models = [] } = useQuery(modelList);
  const known = models.find(({ name }) => name === model);
  const isOther = model !== undefined && known === undefined;
  return (
    <div className="flex flex-col gap-2">
      <SelectField
        label="Model"
        className="max-w-96"
        value={isOther ? OTHER : (model ?? '')}
        problem={problem === undefined ? undefined : withVisibleControls(problem)}
        hint={
          known?.usable === false ? withVisibleControls(known.why ?? 'It cannot be used at the moment.') : undefined
        }
        onChange={({ target: { value } }) => onChange(value === '' ? undefined : value === OTHER ? '' : value)}
      >
        <option value="">The gateway’s model</option>
        {models.map(({ name, usable }) => (
          <option key={name} value={name}>
            {usable ? name : `${name} (cannot be used now)`}
          </option>
        ))}
        <option value={OTHER}>Another one …</option>
      </SelectField>
      {isOther && (
        <TextField
          label="Name of the model"
          className="max-w-96"
          placeholder="anthropic/<model>"
          value={model}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </div>
  );
}

const OTHER = 'another';
