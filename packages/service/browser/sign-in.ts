// After signing in, the page shows what the address said before.
const form = document.querySelector('form');
if (form !== null) form.action += location.hash;
