'use strict';
(() => {
  const page = document;
  const textOf = (node, selector) => node?.querySelector(selector)?.textContent ?? '';

  // Filter: what does not fit is hidden.
  const form = page.querySelector('.filter');
  const items = [...page.querySelectorAll('.item')];
  if (form) {
    const label = form.elements.label, split = form.elements.split, object = form.elements.object, key = form.elements.key;
    const weight = (item) => item.querySelectorAll('.sample').length || 1;
    const all = items.reduce((sum, item) => sum + weight(item), 0);
    const search = new Map(items.map((item) => [item, (textOf(item, '.key') || item.textContent).toLowerCase()]));
    // An item's classes of objects; '' stands for an image without objects.
    const objects = new Map(items.map((item) => [item, new Set(
      [item, ...item.querySelectorAll('.sample')].flatMap((node) => node.dataset.objects?.split(' ') ?? []))]));
    const filter = () => {
      const part = key.value.toLowerCase();
      let shown = 0;
      for (const item of items) {
        item.hidden = Boolean(label?.value && item.dataset.label !== label.value) ||
          Boolean(split?.value && item.dataset.split !== split.value) ||
          Boolean(object?.value && !objects.get(item).has(object.value === 'none' ? '' : object.value)) ||
          !search.get(item).includes(part);
        if (!item.hidden) shown += weight(item);
      }
      form.querySelector('output').value = `${shown} of ${all}`;
      page.querySelector('.none').hidden = shown > 0;
    };
    form.addEventListener('input', filter);
    for (const name of ['boxes', 'masks']) {
      const box = form.elements[name];
      const draw = () => page.body.classList.toggle(`without-${name}`, !box.checked);
      if (box) {
        box.addEventListener('change', draw);
        draw(); // a browser may have kept it, too
      }
    }
    form.addEventListener('submit', (event) => event.preventDefault());
    form.hidden = false;
    filter(); // a browser may have kept what was typed before
  }

  // Dialog: one picture, large. Arrows go to those beside it.
  const dialog = page.querySelector('dialog');
  const image = dialog.querySelector('img');
  const buttons = [...page.querySelectorAll('.open')];
  let at = 0;
  const visible = () => buttons.filter((button) => !button.closest('.item').hidden);
  const put = (selector, text) => {
    const node = dialog.querySelector(selector);
    node.textContent = text;
    node.hidden = !text;
  };
  const show = (button) => {
    at = buttons.indexOf(button);
    const sample = button.closest('.sample'), family = button.closest('.family');
    const small = button.querySelector('img');
    image.src = small.src;
    image.alt = small.alt;
    image.className = small.className;
    dialog.querySelector('.view .drawn')?.remove();
    const drawn = button.querySelector('.drawn');
    if (drawn) image.after(drawn.cloneNode(true));
    const key = textOf(sample, '.key') || textOf(family, '.key');
    put('#dialog-title', textOf(sample, '.label') || textOf(family, 'h3 > bdi') || key);
    put('.side .key', key);
    put('.side .variant', [textOf(sample, '.copy'), textOf(sample, '.variant')].filter(Boolean).join(': '));
    put('.side .stored', [textOf(sample, '.stored'), textOf(sample, '.where')].filter(Boolean).join('; '));
    dialog.querySelector('.side dl').replaceChildren(...[...sample.querySelectorAll('.value')].flatMap((value) => {
      const name = page.createElement('dt'), text = page.createElement('dd');
      name.textContent = value.firstElementChild.textContent;
      text.textContent = value.lastElementChild.textContent;
      return [name, text];
    }));
    dialog.querySelector('.side').scrollTop = 0;
    const list = visible(), place = list.indexOf(button);
    put('.place', `${place + 1} of ${list.length}`);
    dialog.querySelector('[name=previous]').disabled = place <= 0;
    dialog.querySelector('[name=next]').disabled = place === list.length - 1;
  };
  const step = (by) => {
    const list = visible(), next = list[list.indexOf(buttons[at]) + by];
    if (next) show(next);
  };
  for (const button of buttons) {
    button.addEventListener('click', () => {
      show(button);
      dialog.showModal();
      dialog.focus(); // and no button of it: arrows work at once
    });
  }
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowLeft') step(-1);
    else if (event.key === 'ArrowRight') step(1);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener('click', (event) => {
    const name = event.target.name;
    if (event.target === dialog || name === 'close') dialog.close();
    else if (name === 'previous') step(-1);
    else if (name === 'next') step(1);
  });
  // The picture seen last is the one to go on from.
  dialog.addEventListener('close', () => buttons[at].focus());
})();
