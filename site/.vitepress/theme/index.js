import DefaultTheme from 'vitepress/theme';
import FilterPlayground from './FilterPlayground.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('FilterPlayground', FilterPlayground);
  },
};
