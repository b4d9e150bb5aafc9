'use strict';
// Each event has the whole content: whatever was missed, the next one makes up for it.
document.addEventListener('DOMContentLoaded', () => {
  const content = document.getElementById('content'), connection = document.getElementById('connection');
  let events, lost = '';

  const say = text => { if (connection.textContent !== text) connection.textContent = text };

  // Sections that are as they were stay, with what a reader has selected in them.
  const show = html => {
    const next = document.createElement('template');
    next.innerHTML = html;
    let at = content.firstElementChild;
    for (const section of [...next.content.children]) {
      while (at && at.id !== section.id && !next.content.getElementById(at.id)) {
        const gone = at;
        at = at.nextElementSibling;
        gone.remove();
      }
      if (!at || at.id !== section.id) {
        content.insertBefore(section.cloneNode(true), at);
        continue;
      }
      const now = at;
      at = at.nextElementSibling;
      if (now.innerHTML === section.innerHTML) continue;
      const places = [...now.querySelectorAll('.scroll')].map(e => e.scrollLeft);
      const focused = [...now.querySelectorAll('.scroll')].indexOf(document.activeElement);
      const copy = section.cloneNode(true);
      now.replaceWith(copy);
      copy.querySelectorAll('.scroll').forEach((e, i) => {
        e.scrollLeft = places[i] || 0;
        if (i === focused) e.focus({preventScroll: true});
      });
    }
    while (at) {
      const gone = at;
      at = at.nextElementSibling;
      gone.remove();
    }
  };

  const follow = () => {
    events = new EventSource('events');
    events.addEventListener('state', event => {
      const state = JSON.parse(event.data);
      lost = '';
      document.documentElement.classList.remove('lost');
      say(state.over ? '' : 'Live');
      document.title = state.title;
      show(state.html);
      if (state.over) events.close();
    });
    events.addEventListener('error', () => {
      lost = lost || new Date().toLocaleTimeString();
      document.documentElement.classList.add('lost');
      say('No connection to tsmark since ' + lost + '. Trying again.');
      if (events.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
    });
  };
  follow();
});
