import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { gatewayStatus } from '../../data/status.ts';
import { SelectField } from '../ui/field.tsx';

interface DefinitionFieldProps {
  /** Undefined: the agent is data alone. */
  readonly definition: string | undefined;
  readonly onChange: (definition: string | undefined) => void;
  readonly problem?: string | undefined;
}

/** The definitions that the gateway has. A gateway without any shows no field, unless the agent names one. */
export function DefinitionField({ definition, onChange, problem }: DefinitionFieldProps): ReactElement | null {
  const { data: status } = useQuery(gatewayStatus);
  const names = status?.definitions?.map(({ name }) => name) ?? [];
  const isMissing = status?.definitions !== undefined && definition !== undefined && !names.includes(definition);
  const options = definition === undefined || names.includes(definition) ? names : [definition, ...names];
  if (options.length === 0) return null;
  return (
    <SelectField
      label="Definition"
      className="max-w-96"
      hint={
        isMissing
          ? 'This gateway has no definition with this name.'
          : 'What the agent is, written in TypeScript in the configuration file. Instructions and tools below are added to it.'
      }
      value={definition ?? ''}
      problem={problem === undefined ? undefined : withVisibleControls(problem)}
      onChange={({ target: { value } }) => onChange(value === '' ? undefined : value)}
    >
      <option value="">None</option>
      {options.map((name) => (
        <option key={name} value={name}>
          {withVisibleControls(name)}
        </option>
      ))}
    </SelectField>
  );
}
