const NAME = 'lastcall.single-keys';

/** Speech input types letters, so its users turn single keys off. */
export function areSingleKeysOn(): boolean {
  return localStorage.getItem(NAME) !== 'off';
}

export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(NAME, isOn ? 'on' : 'off');
}
